// The options of outlines and their windows.

import { RULES, type OpenOptions, type ReadCounts, type ReadingRules } from "./open.js";
import type { OutlineRow } from "../generated/queries.js";

/** The state of reading an outline. */
export interface OutlineProgress extends ReadCounts {
  /** The totals so far: of the trace, and of the five largest categories, tracks and names. */
  totals: OutlineRow[];
}

/** Options of `outline`. */
export interface OutlineOptions extends Pick<OpenOptions, "signal" | "threads"> {
  /** Called about ten times per second, and at the end. */
  onProgress?: ((progress: OutlineProgress) => void) | undefined;
}

/** Options of the windows of an outline. */
export interface WindowOptions extends ReadingRules, Pick<OpenOptions, "signal" | "memoryLimit"> {
  /** Called about ten times per second, and at the end. `events` includes those that were passed over. */
  onProgress?: ((progress: ReadCounts) => void) | undefined;
}

/** The names of the options of `outline`. */
export const OUTLINE_OPTIONS = ["signal", "onProgress", "threads"] as const;

/** The names of the options of a window. */
export const WINDOW_OPTIONS = ["signal", "onProgress", "memoryLimit", ...RULES] as const;
