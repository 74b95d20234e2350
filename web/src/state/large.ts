// Traces that are larger than memory: their outline is read, and one window of their events at a time.

import { signal } from "@preact/signals";
import type {
  Diagnostic,
  OutlineProgress,
  OutlineRow,
  OutlineTrack,
  ReadCounts,
  RemoteOutline,
  RemoteTrace,
} from "kinetoscope/remote";
import { openOutline } from "../engine/open";
import { firstWindow, mostEvents } from "../model/outline";
import type { Viewport } from "../model/timeline/viewport";

/** A trace of which a window is open. */
export interface Large {
  outline: RemoteOutline;
  rows: readonly OutlineRow[];
  tracks: readonly OutlineTrack[];
  /** The time of all events. */
  whole: Viewport;
  /** The time of the events that are open. */
  window: Viewport;
}

/** A window, and what its outline found in the file. */
export interface OpenWindow {
  trace: RemoteTrace;
  large: Large;
  diagnostics: Diagnostic[];
}

const GIGABYTE = 2 ** 30;

/** The memory that a trace may take, in bytes: 3 GiB, or the number of MB in the parameter `memory` of the page's address. */
export const memoryLimit = ((): number => {
  const given = Number(new URLSearchParams(location.search).get("memory"));
  return given > 0 ? given * 1e6 : 3 * GIGABYTE;
})();

/** The progress of reading another window. */
export const readingWindow = signal<ReadCounts | undefined>(undefined);

let reading: AbortController | undefined;

/** Reads the outline of a file, and its first window. */
export async function openLarge(
  file: File,
  signal: AbortSignal,
  report: (part: "totals" | "window", progress: OutlineProgress) => void,
): Promise<OpenWindow> {
  let totals: OutlineRow[] = [];
  const onTotals = (progress: OutlineProgress): void => {
    totals = progress.totals;
    report("totals", progress);
  };
  const outline = await openOutline(file, { signal, onProgress: onTotals });
  try {
    const [start, end] = outline.time;
    const whole = { start, end };
    const window = await firstWindow(whole, mostEvents(memoryLimit), (from, to) => outline.eventsWithin(from, to));
    const onProgress = (counts: ReadCounts): void => report("window", { ...counts, totals });
    const trace = await outline.window(window.start, window.end, { signal, onProgress, memoryLimit });
    const [rows, tracks, diagnostics] = await Promise.all([outline.rows(), outline.tracks(), outline.diagnostics()]);
    return { trace, large: { outline, rows, tracks, whole, window }, diagnostics };
  } catch (thrown) {
    outline.dispose();
    throw thrown;
  }
}

/** Ends reading a window. */
export function endReadingWindow(): void {
  reading?.abort();
  reading = undefined;
  readingWindow.value = undefined;
}

/** Reads another window. Returns undefined if a later call replaces this one. */
export async function readWindow({ outline }: Large, window: Viewport): Promise<RemoteTrace | undefined> {
  endReadingWindow();
  const controller = new AbortController();
  const { signal } = (reading = controller);
  const onProgress = (counts: ReadCounts): void => {
    if (!signal.aborted) readingWindow.value = counts;
  };
  try {
    const trace = await outline.window(window.start, window.end, { signal, onProgress, memoryLimit });
    if (!signal.aborted) return trace;
    trace.dispose();
    return undefined;
  } catch (thrown) {
    if (signal.aborted) return undefined;
    throw thrown;
  } finally {
    if (reading === controller) endReadingWindow();
  }
}
