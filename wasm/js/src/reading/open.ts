// What every engine's `open` does, independent of the platform.

import { check, KinetoscopeError } from "../base/errors.js";
import type { Reader } from "../options/open.js";
import type { Input } from "../base/source.js";

/** The parts that depend on the platform. */
export interface Platform<S> extends Reader {
  /** Loads the engine. */
  ready(): Promise<unknown>;
  /** Returns the input of a source; `undefined` if it is not a source. */
  input(source: S, signal: AbortSignal | undefined): Promise<Input | undefined>;
}

/** Returns the input of a source, once the engine is loaded. */
export async function inputOf<S>(platform: Platform<S>, source: S, signal: AbortSignal | undefined): Promise<Input> {
  check(signal);
  await platform.ready();
  const input = await platform.input(source, signal);
  if (!input) throw new KinetoscopeError("bad_source", `cannot read a trace from ${describe(source)}`);
  return input;
}

/** Opens a source, or each of an array; after a failure, disposes of those that were opened. */
export async function openEach<S, T extends { dispose(): void }>(
  source: S | readonly S[],
  one: (source: S) => Promise<T>,
): Promise<T | T[]> {
  if (!Array.isArray(source)) return one(source as S);
  const traces: T[] = [];
  try {
    for (const each of source as readonly S[]) traces.push(await one(each));
    return traces;
  } catch (thrown) {
    for (const trace of traces) trace.dispose();
    throw thrown;
  }
}

export function describe(source: unknown): string {
  if (source === null || typeof source !== "object") return String(source);
  return `an object of type ${source.constructor?.name ?? "Object"}`;
}
