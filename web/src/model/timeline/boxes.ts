// The boxes of a chunk, made ready to be drawn: in the order of their colours, since setting a colour costs more than a box.

import type { Tiles } from "kinetoscope/remote";
import { colorOf, COLORS } from "../colors";
import { shortName } from "../short-name";

export interface Boxes {
  tiles: Tiles;
  /** The names as they fit into boxes. */
  short: string[];
  /** Positions in the tiles, colour by colour. */
  order: Uint32Array;
  /** Where each colour begins in `order`; one more than there are colours. */
  begins: Uint32Array;
  /** Positions of boxes that are wide enough for a text at this level. */
  wide: Uint32Array;
}

/** From how many pixels of its level on a box can have a text. */
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

/** The box at a time and level of nesting, the narrowest when several are there. */
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
