// The critical path on the timeline: which track it runs through at each pixel.

import type { Columns, CriticalPathRow } from "kinetoscope/remote";

/** The periods of the critical path, in the order of time; a track of -1 is between two tracks. */
export interface Path {
  start: Float64Array;
  end: Float64Array;
  track: Int32Array;
}

/** A part of the path that is drawn at once: pixels of one track. */
export interface Run {
  from: number;
  to: number;
  track: number;
}

/** Returns the path of rows of periods. */
export function criticalPathOf({ columns, length }: Columns<CriticalPathRow>): Path {
  const [start, track] = [columns.start_ns, columns.track];
  return {
    start: Float64Array.from(start),
    end: Float64Array.from({ length }, (_, at) => (start[at] as number) + (columns.time_ns[at] as number)),
    track: Int32Array.from({ length }, (_, at) => (Number.isNaN(track[at]) ? -1 : (track[at] as number))),
  };
}

/** Returns the index of the last period that begins at or before a time; -1 if there is none. */
export function periodAt({ start }: Path, time: number): number {
  let [low, high] = [0, start.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((start[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Returns the runs between two times on a number of pixels. Of several periods in a pixel, that of its middle counts. */
export function runsOf(path: Path, view: { start: number; end: number }, pixels: number): Run[] {
  const runs: Run[] = [];
  const width = (view.end - view.start) / pixels;
  for (let pixel = 0; pixel < pixels; pixel += 1) {
    const time = view.start + (pixel + 0.5) * width;
    const at = periodAt(path, time);
    if (at < 0 || time >= (path.end[at] as number)) continue;
    const track = path.track[at] as number;
    const last = runs.at(-1);
    if (last?.track === track && last.to === pixel) last.to = pixel + 1;
    else runs.push({ from: pixel, to: pixel + 1, track });
  }
  return runs;
}
