// Keyboard navigation between boxes. All functions return the index of a box, or `undefined`.

import type { Tiles } from "kinetoscope/remote";

interface Box {
  start: number;
  end: number;
  depth: number;
}

const boxAt = (tiles: Tiles, at: number): Box => ({
  start: tiles.start_ns[at] as number,
  end: tiles.end_ns[at] as number,
  depth: tiles.depth[at] as number,
});

/** Returns the box with the largest measure; boxes with the measure `NOTHING` are skipped. */
function most(tiles: Tiles, measure: (box: Box, at: number) => number): number | undefined {
  let best: number | undefined;
  let greatest = -Infinity;
  for (let at = 0; at < tiles.length; at += 1) {
    const value = measure(boxAt(tiles, at), at);
    if (value > greatest) [best, greatest] = [at, value];
  }
  return best;
}

const NOTHING = -Infinity;

/** Returns the box that covers the largest part of a time range. */
export function longestWithin(tiles: Tiles, start: number, end: number): number | undefined {
  return most(tiles, (box) =>
    box.end < start || box.start > end ? NOTHING : Math.min(box.end, end) - Math.max(box.start, start),
  );
}

/** Returns the longest box of a level that lies within a time range. */
export function longestOn(tiles: Tiles, depth: number, start: number, end: number): number | undefined {
  return most(tiles, (box) =>
    box.depth === depth && box.start >= start && box.end <= end ? box.end - box.start : NOTHING,
  );
}

/** Returns the next or previous box of an event on its level. */
export function neighbour(tiles: Tiles, of: Box & { event: number }, by: 1 | -1): number | undefined {
  return most(tiles, (box, at) => {
    if (box.depth !== of.depth || tiles.event[at] === of.event) return NOTHING;
    if (by > 0) return box.start >= of.end ? -box.start : NOTHING;
    return box.start < of.start ? box.start : NOTHING;
  });
}
