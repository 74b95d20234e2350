// The sources and options of `diff`.

import { KinetoscopeError } from "../base/errors.js";
import * as checks from "./checks.js";
import { RULES, rulesOf } from "./open.js";
import type { RunOptions } from "./run.js";

/** Options of `diff`. */
export type CompareOptions = Pick<RunOptions, "signal" | "onProgress" | "memoryLimit" | (typeof RULES)[number]>;

const COMPARE_OPTIONS = [
  "signal",
  "onProgress",
  "memoryLimit",
  ...RULES,
] as const satisfies readonly (keyof CompareOptions)[];

/** Checks the options of `diff`. */
export function compareOptions(options: CompareOptions): CompareOptions {
  const { memoryLimit, ...rest } = checks.options(options, COMPARE_OPTIONS);
  checks.openOptions({ memoryLimit, ...rulesOf(rest) });
  return options;
}

/** Options of `check`. */
export interface CheckOptions<S> extends Omit<CompareOptions, "onProgress"> {
  /** The traces that limits on changes compare with. */
  base?: S | readonly S[] | undefined;
}

/** Checks the options of `check`. */
export function checkOptions<S>(options: CheckOptions<S>): CheckOptions<S> {
  const { base: _, ...reading } = checks.options(options, [
    ...COMPARE_OPTIONS.filter((name) => name !== "onProgress"),
    "base",
  ]);
  compareOptions(reading);
  return options;
}

/** Returns one source or several as an array. */
export const sourcesOf = <S>(sources: S | readonly S[]): readonly S[] =>
  Array.isArray(sources) ? (sources as readonly S[]) : [sources as S];

/** Returns the sources of both sides in the order in which they are read. */
export function sidesOf<S>(base: S | readonly S[], changed: S | readonly S[]): { source: S; isBase: boolean }[] {
  const of = (side: S | readonly S[], isBase: boolean): { source: S; isBase: boolean }[] => {
    const sources = sourcesOf(side);
    if (sources.length === 0) throw new KinetoscopeError("empty", "each side needs at least one trace");
    return sources.map((source) => ({ source, isBase }));
  };
  return [...of(base, true), ...of(changed, false)];
}
