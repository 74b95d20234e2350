// Cached queries: views with the same query share one answer.

import { signal, type ReadonlySignal } from "@preact/signals";
import type { RemoteTrace, Queries } from "kinetoscope/remote";

export type Answer<T> = { state: "waiting" } | { state: "ready"; value: T } | { state: "failed"; reason: string };

const answers = new WeakMap<RemoteTrace, Map<string, ReadonlySignal<Answer<unknown>>>>();

/** Returns the answer to a query, which runs once for each trace and key. */
export function ask<T>(
  trace: RemoteTrace,
  key: string,
  query: (trace: RemoteTrace) => Promise<T>,
): ReadonlySignal<Answer<T>> {
  let known = answers.get(trace);
  if (!known) answers.set(trace, (known = new Map()));
  const found = known.get(key);
  if (found) return found as ReadonlySignal<Answer<T>>;
  const answer = signal<Answer<T>>({ state: "waiting" });
  known.set(key, answer);
  query(trace).then(
    (value) => (answer.value = { state: "ready", value }),
    (thrown: unknown) => {
      known.delete(key);
      answer.value = { state: "failed", reason: thrown instanceof Error ? thrown.message : String(thrown) };
    },
  );
  return answer;
}

/** Returns the rows of a query. */
export function rowsOf<V extends keyof Queries>(
  trace: RemoteTrace,
  query: V,
  options?: Queries[V]["options"],
): ReadonlySignal<Answer<Queries[V]["row"][]>> {
  return ask(trace, `${query} ${JSON.stringify(options ?? {})}`, (from) => from.rows(query, options));
}

/** Returns the value of an answer if it is ready. */
export function valueOf<T>(answer: Answer<T>): T | undefined {
  return answer.state === "ready" ? answer.value : undefined;
}
