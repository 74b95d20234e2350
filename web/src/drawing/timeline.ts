// Draws the timeline: a pure function of its scene.

import type { Boxes } from "../model/timeline/boxes";
import { chunkLength, placesOf, type Place } from "../model/timeline/chunks";
import { LEVEL, type TimelineRow } from "../model/timeline/layout";
import { colorOfSpan } from "../model/timeline/phases";
import { density } from "./density";
import { areaBox, criticalPath, links, outline } from "./marks";
import { cursor, grid, loaded, outside, ruler } from "./ruler";
import { visibleRows, xOf, yOf, type Scene } from "./scene";
import { FONT, fitted } from "./text";

export function drawTimeline(scene: Scene): void {
  const { context, width, height, palette, header } = scene;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = "middle";
  grid(scene);
  context.save();
  context.beginPath();
  context.rect(0, header, width, height - header);
  context.clip();
  for (const row of visibleRows(scene)) {
    if (row.kind === "track") track(scene, row);
    else if (row.kind === "counter") counter(scene, row);
    else process(scene, row);
  }
  if (scene.within) outside(scene, scene.within.start, scene.within.end);
  if (scene.path) criticalPath(scene, scene.path);
  if (scene.area) areaBox(scene, scene.area);
  if (scene.hovered) outline(scene, scene.hovered, palette.text, 1);
  if (scene.selected) links(scene, scene.selected);
  context.restore();
  ruler(scene);
  if (scene.window) loaded(scene, scene.window);
  if (scene.cursor !== undefined) cursor(scene, scene.cursor);
}

function process(scene: Scene, row: TimelineRow): void {
  scene.context.fillStyle = scene.palette.raised;
  scene.context.fillRect(0, yOf(scene, row.y), scene.width, row.height - 1);
}

function track(scene: Scene, row: TimelineRow & { kind: "track" }): void {
  const top = yOf(scene, row.y);
  density(scene, row);
  if (row.track < 0) return;
  for (const place of placesOf(row.track, scene.level, scene.view.start, scene.view.end)) {
    const found = scene.boxes.get(place);
    if (found) chunk(scene, row, found, top, place);
    else coarserChunk(scene, row, top, place);
  }
}

/** Draws the matching part of a coarser chunk while the chunk itself is being loaded. */
function coarserChunk(scene: Scene, row: TimelineRow & { kind: "track" }, top: number, place: Place): void {
  const found = scene.boxes.coarser(place);
  if (!found) return;
  const { context } = scene;
  const length = chunkLength(place.level);
  const from = Math.max(0, xOf(scene, place.at * length));
  const to = Math.min(scene.width, xOf(scene, (place.at + 1) * length));
  context.save();
  context.beginPath();
  context.rect(from, top, to - from, row.height);
  context.clip();
  chunk(scene, row, found, top, undefined);
  context.restore();
}

/** Returns a function that returns the colour of a box: of its name, which is `color`, or of its phase. */
function fills(
  { palette, found, phases }: Scene,
  row: TimelineRow & { kind: "track" },
  { tiles }: Boxes,
): (box: number, color: number) => string {
  const dim = found && tiles.names.map((name) => !found.names.has(name));
  return (box, color) => {
    if (dim?.[tiles.name[box] as number]) return palette.dimmed;
    if (!phases) return palette.boxes[color] as string;
    const phase = colorOfSpan(phases, row, tiles.start_ns[box] as number, tiles.end_ns[box] as number);
    return palette.phases[phase] ?? palette.dimmed;
  };
}

/** Draws a chunk. Boxes that began in an earlier chunk are skipped if that chunk is visible and draws them. */
function chunk(
  scene: Scene,
  row: TimelineRow & { kind: "track" },
  boxes: Boxes,
  top: number,
  place: Place | undefined,
): void {
  const { context, view, width } = scene;
  const { tiles, order, begins } = boxes;
  const scale = width / (view.end - view.start);
  const begin = place ? place.at * chunkLength(place.level) : -Infinity;
  const skipBefore = begin > view.start ? begin : -Infinity;
  const fillOf = fills(scene, row, boxes);
  let last: string | undefined;
  for (let color = 0; color + 1 < begins.length; color += 1) {
    const end = begins[color + 1] as number;
    for (let at = begins[color] as number; at < end; at += 1) {
      const box = order[at] as number;
      const depth = tiles.depth[box] as number;
      const start = tiles.start_ns[box] as number;
      if (depth >= row.levels || start < skipBefore) continue;
      const x = (start - view.start) * scale;
      const wide = ((tiles.end_ns[box] as number) - start) * scale;
      if (x > width || x + wide < 0) continue;
      const fill = fillOf(box, color);
      if (fill !== last) context.fillStyle = last = fill;
      const left = Math.max(x, -2);
      context.fillRect(
        left,
        top + depth * LEVEL,
        Math.max(1, Math.min(x + wide, width + 2) - left - (wide > 3 ? 1 : 0)),
        LEVEL - 1,
      );
    }
  }
  labels(scene, row, boxes, top, scale, skipBefore);
}

function labels(
  scene: Scene,
  row: TimelineRow & { kind: "track" },
  { tiles, short, wide }: Boxes,
  top: number,
  scale: number,
  skipBefore: number,
): void {
  const { context, view, width, palette } = scene;
  context.fillStyle = palette.boxText;
  for (const box of wide) {
    const depth = tiles.depth[box] as number;
    const start = tiles.start_ns[box] as number;
    if (depth >= row.levels || start < skipBefore) continue;
    const from = Math.max(0, (start - view.start) * scale);
    const to = Math.min(width, ((tiles.end_ns[box] as number) - view.start) * scale);
    if (to - from < 26) continue;
    const text = fitted(context, short[tiles.name[box] as number] as string, to - from - 8);
    if (text) context.fillText(text, from + 4, top + depth * LEVEL + LEVEL / 2);
  }
}

function counter(scene: Scene, row: TimelineRow & { kind: "counter" }): void {
  const { context, view, width, palette } = scene;
  const bottom = yOf(scene, row.y) + row.height;
  const scale = (row.height - 2) / (row.max > 0 ? row.max : 1);
  context.fillStyle = palette.raised;
  context.fillRect(0, bottom - row.height, width, row.height);
  for (const place of placesOf(row.counter, scene.level, view.start, view.end)) {
    const curve = scene.curves.get(place);
    if (!curve) continue;
    const pixel = chunkLength(place.level) / curve.length;
    const values = row.unit === "share" ? curve.mean : curve.high;
    const first = Math.max(0, Math.floor((view.start - place.at * chunkLength(place.level)) / pixel));
    context.fillStyle = palette.curve;
    for (let at = first; at < values.length; at += 1) {
      const start = place.at * chunkLength(place.level) + at * pixel;
      // Integer pixels avoid visible seams.
      const x = Math.floor(xOf(scene, start));
      if (x > width) break;
      const value = values[at] as number;
      if (value > 0)
        context.fillRect(
          x,
          bottom - value * scale,
          Math.max(1, Math.floor(xOf(scene, start + pixel)) - x),
          value * scale,
        );
    }
  }
}
