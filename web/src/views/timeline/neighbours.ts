// Keyboard navigation of the timeline: from the selected event to its neighbours.

import { longestOn, longestWithin, neighbour } from "../../model/timeline/pick";
import type { Timeline } from "./controller";

interface Selected {
  event: number;
  depth: number;
  start: number;
  end: number;
}

/** Selects the previous or next event on the same track and level. */
export async function selectNeighbour(timeline: Timeline, by: 1 | -1): Promise<void> {
  const related = timeline.related.peek();
  if (!related || related.length === 0) return;
  const own = {
    event: related.event[0],
    depth: related.depth[0],
    start: related.start_ns[0],
    end: related.end_ns[0],
  } as Selected;
  const track = related.track[0] as number;
  // Searches a growing range until an event is found.
  for (let reach = Math.max(own.end - own.start, 1000) * 20; ; reach *= 16) {
    const from = Math.floor(by > 0 ? own.end : own.start - reach);
    const tiles = await timeline.trace.tiles({ track, startNs: from, endNs: Math.ceil(from + reach), pixels: 1 << 16 });
    const found = neighbour(tiles, own, by);
    if (found !== undefined) return timeline.select(tiles.event[found]);
    if (reach > timeline.camera.whole.end - timeline.camera.whole.start) return;
  }
}

/** Selects the longest visible event of the first visible track: the start of keyboard navigation. */
export function selectFirst(timeline: Timeline): void {
  const row = timeline.surface.rows().find((one) => one.kind === "track");
  if (row?.kind !== "track") return;
  const { start, end } = timeline.camera.view.peek();
  const tiles = timeline.surface.boxesAt(row.track, (start + end) / 2)?.tiles;
  if (!tiles || tiles.length === 0) return;
  const best = longestWithin(tiles, start, end);
  if (best !== undefined) timeline.select(tiles.event[best]);
}

/** Selects the parent of the selected event. */
export function selectParent(timeline: Timeline): void {
  const related = timeline.related.peek();
  const at = related?.relation.indexOf("ancestor") ?? -1;
  if (related && at >= 0) timeline.select(related.event[at]);
}

/** Selects the longest child of the selected event. */
export async function selectChild(timeline: Timeline): Promise<void> {
  const related = timeline.related.peek();
  if (!related || related.length === 0) return;
  const [start, end] = [related.start_ns[0] as number, related.end_ns[0] as number];
  const tiles = await timeline.trace.tiles({
    track: related.track[0] as number,
    startNs: start,
    endNs: Math.max(end, start + 1),
    pixels: 4096,
  });
  const best = longestOn(tiles, (related.depth[0] as number) + 1, start, end);
  if (best !== undefined) timeline.select(tiles.event[best]);
}
