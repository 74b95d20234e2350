// Profiler steps on timelines, and the steps of two traces in pairs.

import type { StepsRow, TracksRow } from "kinetoscope/remote";
import { around, type Viewport } from "./viewport";

export interface Step {
  name: string;
  start: number;
  end: number;
}

/** Returns the steps as they are drawn. */
export const drawnSteps = (rows: readonly StepsRow[]): Step[] =>
  rows.map(({ name, start_ns, wall_ns }) => ({ name, start: start_ns, end: start_ns + wall_ns }));

/** Returns the time range of all tracks, which contains the start of the recording. */
export function wholeOf(tracks: readonly TracksRow[]): Viewport {
  const start = Math.min(0, ...tracks.flatMap((track) => track.start_ns ?? []));
  return { start, end: Math.max(start + 1, ...tracks.flatMap((track) => track.end_ns ?? [])) };
}

/** A step of each of two traces. */
export interface Pair {
  a: Step;
  b: Step;
}

/** One of the traces of a pair. */
export interface Paired {
  name: string;
  steps: readonly StepsRow[];
  tracks: readonly TracksRow[];
}

/** Returns the steps of two traces in pairs, by their order. If one has no steps, the complete traces are the pair. */
export function pairsOf(a: Paired, b: Paired): Pair[] {
  const [ofA, ofB] = [drawnSteps(a.steps), drawnSteps(b.steps)];
  const whole = ({ name, tracks }: Paired): Step => ({ name, ...wholeOf(tracks) });
  if (ofA.length === 0 || ofB.length === 0) return [{ a: whole(a), b: whole(b) }];
  return ofA.slice(0, ofB.length).map((step, at) => ({ a: step, b: ofB[at] as Step }));
}

/** Returns the range after the starts of both steps that shows both. */
export function rangeOfPair({ a, b }: Pair): Viewport {
  return around(0, Math.max(a.end - a.start, b.end - b.start), 0.02);
}
