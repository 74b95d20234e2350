// Which failures of reading a rank are notes, and what is left of a run when some of its sources cannot be read.

import { KinetoscopeError, asError } from "../base/errors.js";
import * as checks from "../options/checks.js";
import { RULES, rulesOf } from "../options/open.js";
import { describe } from "../reading/open.js";
import type { RunOptions, SourceNote } from "../options/run.js";
import { isReadOnce } from "../base/source.js";

/** Failures that are not about a source. */
const FATAL: readonly string[] = ["bad_option", "aborted", "not_initialized"];

/** Returns the note about a source that cannot be read. Throws what is not about the source. */
export function noteOf(thrown: unknown, name: string): SourceNote {
  const error = asError(thrown, "io");
  if (FATAL.includes(error.code)) throw error;
  const isOther = error.code === "not_a_trace" && /JSON|text/.test(error.message);
  return { code: isOther ? "skipped" : "unreadable", message: `${error.source ?? name}: ${error.message}` };
}

/** The error if none of the sources could be read: that of the first one. */
export function noRank(failures: readonly unknown[]): KinetoscopeError {
  const [first] = failures;
  if (first === undefined) return new KinetoscopeError("empty", "a run needs a trace of at least one rank");
  const { code, message, byteOffset, source } = asError(first, "io");
  const error = new KinetoscopeError(code, message, { byteOffset, reason: first });
  error.source = source;
  return error;
}

const RUN_OPTIONS = [
  "signal",
  "onProgress",
  "memoryLimit",
  ...RULES,
  "workers",
  "notes",
] as const satisfies readonly (keyof RunOptions)[];

/** Checks the sources and options of `openRun`. */
export function runOptions(sources: unknown, options: RunOptions): RunOptions {
  sourceList(sources);
  const { workers, memoryLimit, notes, ...rest } = checks.options(options, RUN_OPTIONS);
  checks.openOptions({ memoryLimit, ...rulesOf(rest) });
  if (workers !== undefined && checks.index("workers", workers) === 0) {
    throw new KinetoscopeError("bad_option", "workers: at least 1 is needed");
  }
  if (notes !== undefined) checks.texts("notes", Array.isArray(notes) ? notes.map((note) => note?.message) : notes);
  return options;
}

/** Checks the sources and options of `merge`. The sources are read twice. */
export function mergeOptions(
  sources: unknown,
  options: { ranks?: readonly number[] | undefined },
): number[] | undefined {
  for (const source of sourceList(sources)) {
    if (!isReadOnce(source)) continue;
    throw new KinetoscopeError(
      "bad_source",
      `merge reads its sources twice; ${describe(source)} can be read only once`,
    );
  }
  const { ranks } = checks.options(options, ["ranks", "signal", "memoryLimit"] as never);
  if (ranks === undefined) return undefined;
  if (!Array.isArray(ranks)) throw new KinetoscopeError("bad_option", "ranks: an array of numbers is needed");
  return ranks.map((rank) => checks.index("ranks", rank));
}

function sourceList(sources: unknown): readonly unknown[] {
  if (!Array.isArray(sources)) throw new KinetoscopeError("bad_source", "an array of sources is needed");
  return sources;
}
