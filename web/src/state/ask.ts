// Cached queries: views with the same query share one answer.

import { signal, type ReadonlySignal } from "@preact/signals";
import type { RemoteTrace, Queries } from "kinetoscope/remote";

export type Answer<T> = { state: "waiting" } | { state: "ready"; value: T } | { state: "failed"; reason: string };

const answers = new WeakMap<object, Map<string, ReadonlySignal<Answer<unknown>>>>();

/** Returns the answer to a query, which runs once for each trace or run and key. */
export function ask<S extends object, T>(
  subject: S,
  key: string,
  query: (subject: S) => Promise<T>,
): ReadonlySignal<Answer<T>> {
  let known = answers.get(subject);
  if (!known) answers.set(subject, (known = new Map()));
  const found = known.get(key);
  if (found) return found as ReadonlySignal<Answer<T>>;
  const answer = signal<Answer<T>>({ state: "waiting" });
  known.set(key, answer);
  query(subject).then(
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
