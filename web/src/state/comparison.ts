// The comparisons of open traces. Each trace is reduced once, in its own worker.

import type { ReadonlySignal } from "@preact/signals";
import type { DiffRow, RemoteTrace } from "kinetoscope/remote";
import { compareProfiles } from "../engine/open";
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

/** Returns what changed from one trace to another. */
export function comparisonOf(base: RemoteTrace, changed: RemoteTrace): ReadonlySignal<Answer<DiffRow[]>> {
  return ask(base, `diff ${key(changed)}`, async () =>
    compareProfiles(await profileOf(base), await profileOf(changed)),
  );
}
