// The rows of the timeline and their positions: processes with their tracks and counters.

import type { CountersRow, CounterUnit, TracksRow } from "kinetoscope/remote";
import type { DrawnTrack } from "../outline";

/** The height of one nesting level of spans, in pixels. */
export const LEVEL = 18;
const HEAD = 26;
const COUNTER = 40;
const GAP = 6;

export type TimelineRow =
  | { kind: "process"; id: string; title: string; y: number; height: number; closed: boolean; tracks: number }
  | {
      kind: "track";
      id: string;
      track: number;
      /** The number of the track in the outline of a trace that is larger than memory. */
      outline: number | undefined;
      title: string;
      y: number;
      height: number;
      levels: number;
      depth: number;
      closed: boolean;
      onDevice: boolean;
    }
  | {
      kind: "counter";
      id: string;
      counter: number;
      title: string;
      unit: CounterUnit;
      max: number;
      y: number;
      height: number;
    };

export interface Layout {
  rows: TimelineRow[];
  height: number;
}

export interface LayoutOptions {
  /** Ids of processes and tracks that are closed. */
  closed: ReadonlySet<string>;
  /** Whether a track or counter is shown; the title contains the process and the thread or counter. */
  matches: (title: string) => boolean;
  /** Whether tracks are in the order of their names, which does not change while a recording grows. */
  byName?: boolean;
}

interface Group {
  title: string;
  onDevice: boolean;
  tracks: DrawnTrack[];
  counters: CountersRow[];
}

/** Returns the group of a counter. Counters of devices are named `device 0`, those of device memory `CUDA 0`. */
function groupOf(groups: Group[], counter: CountersRow): Group {
  const ordinal = /^(?:device|cuda|xpu|mtia|hip|privateuse1) (\d+)$/i.exec(counter.process)?.[1];
  const found = groups.find(
    (group) =>
      group.title === counter.process ||
      (ordinal !== undefined && group.onDevice && group.tracks.some((track) => track.pid === ordinal)),
  );
  if (found) return found;
  const made = { title: counter.process, onDevice: false, tracks: [], counters: [] };
  groups.push(made);
  return made;
}

const busiestFirst = (a: TracksRow, b: TracksRow): number => b.spans - a.spans || a.track - b.track;

/** The name of a thread without the system's id, by which Kinetoscope's names begin. */
const nameOf = (track: TracksRow): string => track.thread.replace(/^thread \d+ /, "");

const byName = (a: TracksRow, b: TracksRow): number =>
  nameOf(a).localeCompare(nameOf(b), "en", { numeric: true }) || a.tid.localeCompare(b.tid, "en", { numeric: true });

type Order = (a: TracksRow, b: TracksRow) => number;

function grouped(tracks: readonly DrawnTrack[], counters: readonly CountersRow[], order: Order): Group[] {
  const groups: Group[] = [];
  for (const track of tracks) {
    if (track.spans === 0) continue;
    const onDevice = track.kind === "device";
    let group = groups.find((one) => one.title === track.process && one.onDevice === onDevice);
    if (!group) groups.push((group = { title: track.process, onDevice, tracks: [], counters: [] }));
    group.tracks.push(track);
  }
  for (const counter of counters) if (counter.points > 0) groupOf(groups, counter).counters.push(counter);
  for (const group of groups) group.tracks.sort(order);
  // Devices come first: below the deep tracks of the host, their few streams would be hard to find.
  const weight = (group: Group): number => group.tracks.reduce((sum, track) => sum + track.spans, 0);
  return groups.sort((a, b) => Number(b.onDevice) - Number(a.onDevice) || weight(b) - weight(a));
}

/** Returns the row of a counter at a vertical position. */
const counterRow = (counter: CountersRow, y: number): TimelineRow => ({
  kind: "counter",
  id: `c${counter.counter}`,
  counter: counter.counter,
  title: counter.name,
  unit: counter.unit,
  max: counter.max,
  y,
  height: COUNTER,
});

/** Returns the row of a track at a vertical position. */
function trackRow(track: DrawnTrack, y: number, onDevice: boolean, closed: ReadonlySet<string>): TimelineRow {
  const id = `t${track.outline ?? track.track}`;
  const isClosed = closed.has(id);
  const levels = isClosed ? 1 : track.depth;
  return {
    kind: "track",
    id,
    track: track.track,
    outline: track.outline,
    title: track.thread,
    y,
    height: Math.max(1, levels) * LEVEL,
    levels,
    depth: track.depth,
    closed: isClosed,
    onDevice,
  };
}

/** Returns the rows from top to bottom. Shares of a device, such as busy, are above its streams, other counters below. */
export function layout(
  tracks: readonly DrawnTrack[],
  counters: readonly CountersRow[],
  options: LayoutOptions,
): Layout {
  const rows: TimelineRow[] = [];
  let y = 0;
  const add = (row: TimelineRow, gap = GAP): void => {
    rows.push(row);
    y += row.height + gap;
  };
  for (const group of grouped(tracks, counters, options.byName ? byName : busiestFirst)) {
    const shown = group.tracks.filter((track) => options.matches(`${group.title} ${track.thread}`));
    const curves = group.counters.filter((counter) => options.matches(`${group.title} ${counter.name}`));
    if (shown.length + curves.length === 0) continue;
    const id = `${group.onDevice ? "d" : "p"}${group.title}`;
    const closed = options.closed.has(id);
    add({ kind: "process", id, title: group.title, y, height: HEAD, closed, tracks: shown.length }, 0);
    if (closed) continue;
    const isAbove = (counter: CountersRow): boolean => !group.onDevice || counter.unit === "share";
    for (const counter of curves.filter(isAbove)) add(counterRow(counter, y));
    for (const track of shown) add(trackRow(track, y, group.onDevice, options.closed));
    for (const counter of curves.filter((one) => !isAbove(one))) add(counterRow(counter, y));
  }
  return { rows, height: y };
}

/** Returns the row at a vertical position. */
export function rowAt(layout: Layout, y: number): TimelineRow | undefined {
  return layout.rows.find((row) => y >= row.y && y < row.y + row.height);
}
