// The options of what concerns several ranks, and the progress of reading them.

import type { OpenOptions, ReadingRules } from "./open.js";
import type { RanksKind, RanksOptions } from "../generated/queries.js";

/** The state of reading a run. */
export interface RunProgress {
  /** The number of sources that were read, with those that could not be read. */
  done: number;
  /** The number of sources. */
  total: number;
  /** Bytes of all sources that were read, before decompression. */
  bytes: number;
  /** Events of all sources that were read. */
  events: number;
}

/** A note about a file that the caller left out. */
export interface SourceNote {
  /** `skipped` if it is a file of another kind. */
  code: "skipped" | "unreadable";
  /** A sentence without a period, which names the file. */
  message: string;
}

/** Options of `openRun`. */
export interface RunOptions extends ReadingRules, Pick<OpenOptions, "signal" | "memoryLimit"> {
  /** Called about ten times per second, and after each source. */
  onProgress?: ((progress: RunProgress) => void) | undefined;
  /**
   * With `kinetoscope/worker`: how many traces are read at the same time, each in a worker of its own; 2 by default.
   * `kinetoscope` reads one after the other.
   */
  workers?: number | undefined;
  /** Notes about files that are not among the sources. They come before the notes of the run. */
  notes?: readonly SourceNote[] | undefined;
}

/** Options of a summary. */
export interface RankSummaryOptions {
  /** The name of the trace in reports; by default that of the source. */
  name?: string | undefined;
  /**
   * Whether nothing is left out. By default a summary takes at most 2 % of the file, or 256 KB if that is more: names with
   * little time and the last collectives are left out, and counted.
   */
  complete?: boolean | undefined;
}

/** Options of `merge`. */
export interface MergeOptions extends Pick<OpenOptions, "signal" | "memoryLimit"> {
  /** The ranks whose events are written; all by default. */
  ranks?: readonly number[] | undefined;
}

/** Options of `ranks` about a run. */
export interface RunRanksOptions extends RanksOptions {
  /** The kinds of rows; all by default. Without `collective` and `rank_step`, the answer is small. */
  kinds?: readonly RanksKind[] | undefined;
}
