// The boxes of a chunk, sorted by colour: setting a colour costs more than drawing a box.

import type { Tiles } from "kinetoscope/remote";
import { colorOf, COLORS } from "../colors";
import { shortName } from "../short-name";

export interface Boxes {
  tiles: Tiles;
  /** The shortened names. */
  short: string[];
  /** Indexes of the tiles, grouped by colour. */
  order: Uint32Array;
  /** The start of each colour in `order`, and the end of the last one. */
  begins: Uint32Array;
  /** Indexes of boxes that are wide enough for a label at this level. */
  wide: Uint32Array;
}

/** The smallest width of a box with a label, in pixels of its level. */
const WIDE = 14;

export function boxesOf(tiles: Tiles, nsPerPixel: number): Boxes {
  const colors = tiles.names.map(colorOf);
  const begins = new Uint32Array(COLORS + 1);
  for (let at = 0; at < tiles.length; at += 1) {
    const color = colors[tiles.name[at] as number] as number;
    begins[color + 1] = (begins[color + 1] as number) + 1;
  }
  for (let color = 0; color < COLORS; color += 1)
    begins[color + 1] = (begins[color + 1] as number) + (begins[color] as number);
  const next = begins.slice();
  const order = new Uint32Array(tiles.length);
  const wide: number[] = [];
  for (let at = 0; at < tiles.length; at += 1) {
    const color = colors[tiles.name[at] as number] as number;
    order[next[color] as number] = at;
    next[color] = (next[color] as number) + 1;
    if ((tiles.end_ns[at] as number) - (tiles.start_ns[at] as number) >= WIDE * nsPerPixel && tiles.count[at] === 1)
      wide.push(at);
  }
  return { tiles, short: tiles.names.map(shortName), order, begins, wide: Uint32Array.from(wide) };
}

/** Returns the box at a time and nesting level; the narrowest of several. */
export function boxAt(boxes: Boxes, time: number, depth: number, slack: number): number | undefined {
  const { tiles } = boxes;
  let best: number | undefined;
  let least = Infinity;
  for (let at = 0; at < tiles.length; at += 1) {
    const [start, end] = [tiles.start_ns[at] as number, tiles.end_ns[at] as number];
    if (tiles.depth[at] !== depth || time < start - slack || time > Math.max(end, start) + slack) continue;
    if (end - start < least) [best, least] = [at, end - start];
  }
  return best;
}
