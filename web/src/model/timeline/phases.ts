// The phases of spans on a timeline: those of the iterations that the spans are in.

import type { ServingIterationRow, Spans, TracksRow } from "kinetoscope/remote";
import { PHASE_COLORS, phaseColors } from "../phases";
import type { Serving } from "../serving";

/** Time ranges in the order of their starts, with the colours of their phases. */
export interface PhaseRanges {
  start: Float64Array;
  end: Float64Array;
  color: Uint8Array;
}

export interface PhasesInTime {
  /** The colour of each phase, in the order of the answer. */
  colors: Map<string, number>;
  /** The ranges of the iterations on their tracks. */
  onTrack: Map<number, PhaseRanges>;
  /** The wall times of the iterations, for device work; unknown if several processes have iterations. */
  onDevice: PhaseRanges | undefined;
}

interface Range {
  start: number;
  end: number;
  color: number;
}

function rangesOf(ranges: Range[]): PhaseRanges {
  ranges.sort((a, b) => a.start - b.start);
  return {
    start: Float64Array.from(ranges, (range) => range.start),
    end: Float64Array.from(ranges, (range) => range.end),
    color: Uint8Array.from(ranges, (range) => range.color),
  };
}

/** Returns the colour of the last range that began at or before a time and has not ended; -1 if there is none. */
export function colorAt({ start, end, color }: PhaseRanges, time: number): number {
  let [low, high] = [0, start.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((start[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low > 0 && time < (end[low - 1] as number) ? (color[low - 1] as number) : -1;
}

/** Returns the wall times: each begins where the one before ends, the first with its range. */
function wallTimes(iterations: readonly ServingIterationRow[], color: (phase: string) => number): Range[] {
  let reached = iterations[0]?.start_ns ?? 0;
  return iterations.map((row) => {
    const start = reached;
    reached += row.wall_ns;
    return { start, end: reached, color: color(row.phase) };
  });
}

/** Returns the phases by time. `spans` has at least the spans of the iterations. */
export function phasesInTime(
  { phases, iterations }: Pick<Serving, "phases" | "iterations">,
  spans: Pick<Spans, "event" | "track">,
  tracks: readonly TracksRow[],
): PhasesInTime {
  const colors = phaseColors(phases.map((row) => row.phase ?? ""));
  const color = (phase: string): number => colors.get(phase) ?? PHASE_COLORS;
  const wanted = new Set(iterations.map((row) => row.event));
  const trackOf = new Map<number, number>();
  spans.event.forEach((event, at) => {
    if (wanted.has(event)) trackOf.set(event, spans.track[at] as number);
  });
  const byTrack = new Map<number, Range[]>();
  for (const row of iterations) {
    const track = trackOf.get(row.event);
    if (track === undefined) continue;
    const range = { start: row.start_ns, end: row.start_ns + row.range_ns, color: color(row.phase) };
    const ranges = byTrack.get(track);
    if (ranges) ranges.push(range);
    else byTrack.set(track, [range]);
  }
  const pids = new Set([...byTrack.keys()].map((track) => tracks.find((row) => row.track === track)?.pid));
  return {
    colors,
    onTrack: new Map([...byTrack].map(([track, ranges]) => [track, rangesOf(ranges)])),
    onDevice: pids.size === 1 ? rangesOf(wallTimes(iterations, color)) : undefined,
  };
}

/** Returns the colour of a span: on the track of iterations by its start, on a device by its end; -1 in none. */
export function colorOfSpan(
  phases: PhasesInTime,
  track: { track: number; onDevice: boolean },
  start: number,
  end: number,
): number {
  const own = phases.onTrack.get(track.track);
  if (own) return colorAt(own, start);
  return track.onDevice && phases.onDevice ? colorAt(phases.onDevice, Math.max(start, end - 1)) : -1;
}
