// The comparisons of open traces. Each trace is reduced once, in its own worker.

import type { ReadonlySignal } from "@preact/signals";
import type { DiffRow, RemoteComparison, RemoteTrace } from "kinetoscope/remote";
import { compareProfiles } from "../engine/open";
import { diffTree, type DiffNode } from "../model/diff-flame";
import { ask, type Answer } from "./ask";

const profiles = new WeakMap<RemoteTrace, Promise<Uint8Array>>();

function profileOf(trace: RemoteTrace): Promise<Uint8Array> {
  let profile = profiles.get(trace);
  if (!profile) {
    profile = trace.profile();
    profile.catch(() => profiles.delete(trace));
    profiles.set(trace, profile);
  }
  return profile;
}

let numbers = 0;
const numberOf = new WeakMap<RemoteTrace, number>();

/** A number that no other trace has. */
function key(trace: RemoteTrace): number {
  let number = numberOf.get(trace);
  if (number === undefined) numberOf.set(trace, (number = numbers += 1));
  return number;
}

function answerOf<T>(
  base: RemoteTrace,
  changed: RemoteTrace,
  what: string,
  read: (comparison: RemoteComparison) => Promise<T>,
): ReadonlySignal<Answer<T>> {
  return ask(base, `${what} ${key(changed)}`, async () =>
    compareProfiles(await profileOf(base), await profileOf(changed), read),
  );
}

/** Returns what changed from one trace to another. */
export function comparisonOf(base: RemoteTrace, changed: RemoteTrace): ReadonlySignal<Answer<DiffRow[]>> {
  return answerOf(base, changed, "diff", (comparison) => comparison.rows());
}

/** Places with less than this percentage of the step on both sides are left out. */
const LEAST = 0.02;

/** Returns the call tree of a step with the times of both traces; `undefined` if they have none. */
export function diffTreeOf(base: RemoteTrace, changed: RemoteTrace): ReadonlySignal<Answer<DiffNode | undefined>> {
  return answerOf(base, changed, "diff-tree", async (comparison) =>
    diffTree(await comparison.treeColumns({ minShare: LEAST })),
  );
}
