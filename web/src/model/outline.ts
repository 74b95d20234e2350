// Traces of which only a window is in memory: their tracks, and which window is read.

import type { OutlineTrack, TracksRow } from "kinetoscope/remote";
import type { Viewport } from "./timeline/viewport";

/** About how many bytes a trace and its analyses take for each event. */
const EVENT_BYTES = 170;

/** The number of events from which their mean size in the file is known. */
const KNOWN_FROM = 20_000;

/** Whether a file would not fit into `memoryLimit` bytes of memory, by what was read of it. */
export function isTooLarge(
  { events, bytes, totalBytes }: { events: number; bytes: number; totalBytes: number | undefined },
  memoryLimit: number,
): boolean {
  return totalBytes !== undefined && events >= KNOWN_FROM && (events / bytes) * totalBytes * EVENT_BYTES > memoryLimit;
}

/** The number of events up to which a part of a trace is read: more take long. It takes at most half of the memory. */
export const mostEvents = (memoryLimit: number): number => Math.min(500_000, memoryLimit / EVENT_BYTES / 2);

/** Counts the events of a time, about. */
export type CountEvents = (start: number, end: number) => Promise<number>;

/** Returns the longest part from the start on that has at most `most` events, by halving the time. */
export async function firstWindow(whole: Viewport, most: number, eventsWithin: CountEvents): Promise<Viewport> {
  let { end } = whole;
  while (end - whole.start > 1 && (await eventsWithin(whole.start, end)) > most)
    end = whole.start + (end - whole.start) / 2;
  return { start: whole.start, end };
}

/** Returns the window to read for a visible time: with a margin, if it has at most `most` events; or how many it has. */
export async function windowFor(view: Viewport, most: number, eventsWithin: CountEvents): Promise<Viewport | number> {
  const margin = (view.end - view.start) / 2;
  for (const { start, end } of [{ start: view.start - margin, end: view.end + margin }, view])
    if ((await eventsWithin(start, end)) <= most) return { start: Math.floor(start), end: Math.ceil(end) };
  return eventsWithin(view.start, view.end);
}

/** Whether all that is visible of a trace is in a window. */
export function covers(window: Viewport, view: Viewport, whole: Viewport): boolean {
  return window.start <= Math.max(view.start, whole.start) && Math.min(view.end, whole.end) <= window.end;
}

/** A track of the timeline. */
export interface DrawnTrack extends TracksRow {
  /** Its number in the outline. */
  outline?: number;
}

/** The height of tracks without events in the window, in levels at most. */
const DEEPEST = 6;

const keyOf = ({ kind, pid, tid }: TracksRow | OutlineTrack): string => JSON.stringify([kind, pid, tid]);

/** Returns all tracks of an outline, with what the window has of them. Those without events in the window have a negative number. */
export function drawnTracks(ofWindow: readonly TracksRow[], ofOutline: readonly OutlineTrack[]): DrawnTrack[] {
  const found = new Map(ofWindow.map((track) => [keyOf(track), track]));
  return ofOutline.map((track): DrawnTrack => {
    const own = found.get(keyOf(track));
    const { track: outline, events, start_ns, end_ns, most_open } = track;
    const spans = track.spans || (own?.spans ?? 0);
    if (own) return { ...own, depth: Math.max(1, own.depth), outline, events, spans, start_ns, end_ns };
    const depth = Math.min(DEEPEST, Math.max(1, Math.ceil(most_open)));
    const none = { lanes: 1, depth, busy_ns: 0, priorities: [], channels: [], original_streams: [] };
    return { ...track, ...none, track: -1 - outline, outline, spans };
  });
}
