// The sources and options of `diff`.

import { KinetoscopeError } from "./errors.js";
import * as given from "./given.js";
import type { RunOptions } from "./run-options.js";

/** Options of `diff`. */
export type CompareOptions = Pick<RunOptions, "signal" | "onProgress" | "memoryLimit" | "torchVersion" | "kernelRules">;

const COMPARE_OPTIONS = [
  "signal",
  "onProgress",
  "memoryLimit",
  "torchVersion",
  "kernelRules",
] as const satisfies readonly (keyof CompareOptions)[];

/** Checks the options of `diff`. */
export function compareOptions(options: CompareOptions): CompareOptions {
  const { memoryLimit, torchVersion, kernelRules } = given.options(options, COMPARE_OPTIONS);
  given.openOptions({ memoryLimit, torchVersion, kernelRules });
  return options;
}

/** Returns the sources of both sides in the order in which they are read. */
export function sidesOf<S>(base: S | readonly S[], changed: S | readonly S[]): { source: S; isBase: boolean }[] {
  const of = (side: S | readonly S[], isBase: boolean): { source: S; isBase: boolean }[] => {
    const sources = Array.isArray(side) ? (side as readonly S[]) : [side as S];
    if (sources.length === 0) throw new KinetoscopeError("empty", "each side needs at least one trace");
    return sources.map((source) => ({ source, isBase }));
  };
  return [...of(base, true), ...of(changed, false)];
}
