// Draws the timeline: a pure function of its scene.

import type { Curve, Related, Relation, Spans } from "kinetoscope/remote";
import { time } from "../model/format";
import type { Boxes } from "../model/timeline/boxes";
import { CHUNK_PIXELS, chunkLength, placesOf, type Chunks, type Place } from "../model/timeline/chunks";
import { runsOf, type Path } from "../model/timeline/path";
import { LEVEL, type TimelineRow, type Layout } from "../model/timeline/layout";
import { ticks, type Viewport } from "../model/timeline/viewport";
import type { Palette } from "./palette";
import { FONT, fitted } from "./text";

/** The heights of the ruler and of the strip with the steps below it, in pixels. */
export const RULER = 26;
export const STEPS = 18;

export interface Step {
  name: string;
  start: number;
  end: number;
}

/** A selected area: a time range, and a vertical range of the layout. */
export interface Area {
  start: number;
  end: number;
  top: number;
  bottom: number;
}

export interface Scene {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  scroll: number;
  header: number;
  view: Viewport;
  layout: Layout;
  level: number;
  boxes: Chunks<Boxes>;
  curves: Chunks<Curve>;
  palette: Palette;
  steps: readonly Step[];
  selected: Related | undefined;
  hovered: { track: number; depth: number; start: number; end: number } | undefined;
  area: Area | undefined;
  /** The critical path, if it is shown. */
  path: Path | undefined;
  /** The names that a search found; spans with other names are dimmed. */
  found: { names: ReadonlySet<string>; spans: Spans } | undefined;
}

/** Returns the visible rows of the layout. */
export function visibleRows({
  layout,
  scroll,
  height,
  header,
}: Pick<Scene, "layout" | "scroll" | "height" | "header">): TimelineRow[] {
  const bottom = scroll + height - header;
  return layout.rows.filter((row) => row.y + row.height > scroll && row.y < bottom);
}

const xOf = (scene: Scene, at: number): number =>
  ((at - scene.view.start) / (scene.view.end - scene.view.start)) * scene.width;
const yOf = (scene: Scene, y: number): number => y - scene.scroll + scene.header;

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
  if (scene.path) criticalPath(scene, scene.path);
  if (scene.area) areaBox(scene, scene.area);
  if (scene.hovered) outline(scene, scene.hovered, palette.text, 1);
  if (scene.selected) links(scene, scene.selected);
  context.restore();
  ruler(scene);
}

function grid(scene: Scene): void {
  const { context, view, width, height, palette, header } = scene;
  context.fillStyle = palette.line;
  for (const at of ticks(view, width / 120).times)
    context.fillRect(Math.round(xOf(scene, at)), header, 1, height - header);
  context.fillStyle = palette.quiet;
  context.globalAlpha = 0.5;
  for (const step of scene.steps) {
    const x = Math.round(xOf(scene, step.start));
    if (x >= 0 && x <= width) context.fillRect(x, header, 1, height - header);
  }
  context.globalAlpha = 1;
}

function process(scene: Scene, row: TimelineRow): void {
  scene.context.fillStyle = scene.palette.raised;
  scene.context.fillRect(0, yOf(scene, row.y), scene.width, row.height - 1);
}

function track(scene: Scene, row: TimelineRow & { kind: "track" }): void {
  const top = yOf(scene, row.y);
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

/** Draws a chunk. Boxes that began in an earlier chunk are skipped if that chunk is visible and draws them. */
function chunk(
  scene: Scene,
  row: TimelineRow & { kind: "track" },
  boxes: Boxes,
  top: number,
  place: Place | undefined,
): void {
  const { context, view, width, palette, found } = scene;
  const { tiles, order, begins } = boxes;
  const scale = width / (view.end - view.start);
  const begin = place ? place.at * chunkLength(place.level) : -Infinity;
  const skipBefore = begin > view.start ? begin : -Infinity;
  const dim = found ? tiles.names.map((name) => !found.names.has(name)) : undefined;
  for (let color = 0; color + 1 < begins.length; color += 1) {
    const last = begins[color + 1] as number;
    let isDim: boolean | undefined;
    for (let at = begins[color] as number; at < last; at += 1) {
      const box = order[at] as number;
      const depth = tiles.depth[box] as number;
      const start = tiles.start_ns[box] as number;
      if (depth >= row.levels || start < skipBefore) continue;
      const x = (start - view.start) * scale;
      const wide = ((tiles.end_ns[box] as number) - start) * scale;
      if (x > width || x + wide < 0) continue;
      const dimmed = dim ? (dim[tiles.name[box] as number] as boolean) : false;
      if (dimmed !== isDim) {
        isDim = dimmed;
        context.fillStyle = dimmed ? palette.dimmed : (palette.boxes[color] as string);
      }
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

/** The thickness of the critical path, in pixels. */
const PATH = 3;

/** Draws the critical path as a line above each track that it runs through, with steps from one track to the next. */
function criticalPath(scene: Scene, path: Path): void {
  const { context, width, palette } = scene;
  const tops = new Map<number, number>();
  for (const row of scene.layout.rows) if (row.kind === "track") tops.set(row.track, yOf(scene, row.y) - PATH - 1);
  context.fillStyle = palette.path;
  let last: number | undefined;
  for (const { from, to, track } of runsOf(path, scene.view, Math.ceil(width))) {
    const y = tops.get(track);
    if (y === undefined) continue;
    context.fillRect(from, y, to - from, PATH);
    if (last !== undefined && last !== y) context.fillRect(from, Math.min(last, y), 1, Math.abs(last - y) + PATH);
    last = y;
  }
}

function areaBox(scene: Scene, area: Area): void {
  const { context, palette } = scene;
  const [x, y] = [xOf(scene, area.start), yOf(scene, area.top)];
  const [width, height] = [xOf(scene, area.end) - x, area.bottom - area.top];
  context.fillStyle = palette.selection;
  context.globalAlpha = 0.25;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
  context.strokeStyle = palette.accent;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, width, height);
}

interface Position {
  x: number;
  end: number;
  y: number;
}

/** Returns the position of a span, or `undefined` if its track is hidden. */
function positionOf(
  scene: Scene,
  span: { track: number; depth: number; start: number; end: number },
): Position | undefined {
  const row = scene.layout.rows.find((one) => one.kind === "track" && one.track === span.track);
  if (row?.kind !== "track") return undefined;
  const depth = Math.min(span.depth, row.levels - 1);
  return { x: xOf(scene, span.start), end: xOf(scene, span.end), y: yOf(scene, row.y) + depth * LEVEL };
}

function outline(
  scene: Scene,
  span: { track: number; depth: number; start: number; end: number },
  color: string,
  line: number,
): void {
  const place = positionOf(scene, span);
  if (!place) return;
  const { context } = scene;
  const left = Math.max(place.x, -4);
  context.strokeStyle = color;
  context.lineWidth = line;
  context.strokeRect(left - 0.5, place.y - 0.5, Math.max(2, Math.min(place.end, scene.width + 4) - left) + 1, LEVEL);
}

const spanAt = (spans: Spans, at: number) => ({
  track: spans.track[at] as number,
  depth: spans.depth[at] as number,
  start: spans.start_ns[at] as number,
  end: spans.end_ns[at] as number,
});

/** Relations to causes of the selected span: flow arrows are drawn from them to the span. */
const CAUSES: readonly Relation[] = ["launch", "operator", "forward", "flow_from"];

/** The largest number of flow arrows that are drawn; more would be unreadable. */
const MOST_ARROWS = 400;

/** Draws the selected span and flow arrows between it and related spans, from cause to effect. */
function links(scene: Scene, related: Related): void {
  const { palette } = scene;
  const own = related.relation.indexOf("self");
  if (own < 0) return;
  const self = spanAt(related, own);
  outline(scene, self, palette.accent, 2);
  const from = positionOf(scene, self);
  if (!from) return;
  let arrows = 0;
  related.relation.forEach((relation, at) => {
    if (relation === "self" || relation === "ancestor" || arrows > MOST_ARROWS) return;
    if (relation === "operator" && related.relation.includes("launch")) return;
    const to = positionOf(scene, spanAt(related, at));
    if (!to) return;
    arrows += 1;
    const isCause = CAUSES.includes(relation);
    if (isCause) arrow(scene, to, from);
    else arrow(scene, from, to);
  });
}

function arrow(scene: Scene, from: Position, to: Position): void {
  const { context, palette, width } = scene;
  const start = Math.min(from.end, Math.max(from.x, Math.min(to.x, from.end)));
  if ((start < -width && to.x < -width) || (start > 2 * width && to.x > 2 * width)) return;
  const [y1, y2] = [from.y + LEVEL / 2, to.y + LEVEL / 2];
  const bend = Math.max(30, Math.abs(to.x - start) * 0.4);
  context.strokeStyle = palette.arrow;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(start, y1);
  context.bezierCurveTo(start + bend, y1, to.x - bend, y2, to.x - 3, y2);
  context.stroke();
  context.fillStyle = palette.arrow;
  context.beginPath();
  context.moveTo(to.x, y2);
  context.lineTo(to.x - 7, y2 - 4);
  context.lineTo(to.x - 7, y2 + 4);
  context.fill();
}

function ruler(scene: Scene): void {
  const { context, view, width, palette, header } = scene;
  context.fillStyle = palette.raised;
  context.fillRect(0, 0, width, header);
  context.fillStyle = palette.line;
  context.fillRect(0, header - 1, width, 1);
  const { step, times } = ticks(view, width / 120);
  for (const at of times) {
    const x = Math.round(xOf(scene, at));
    context.fillStyle = palette.line;
    context.fillRect(x, RULER - 8, 1, 8);
    context.fillStyle = palette.quiet;
    context.fillText(tickText(at, step), x + 4, RULER / 2);
  }
  if (header > RULER) stepStrip(scene);
  if (scene.found) matches(scene, scene.found.spans);
}

/** Formats a tick with as many digits as the distance between ticks needs. */
function tickText(at: number, step: number): string {
  if (at === 0) return "0";
  const size = Math.abs(at);
  const [unit, ns] = size >= 1e9 ? ["s", 1e9] : size >= 1e6 ? ["ms", 1e6] : size >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / ns) - 1e-9)));
  return `${(at / ns).toFixed(digits)} ${unit}`;
}

function stepStrip(scene: Scene): void {
  const { context, width, palette } = scene;
  scene.steps.forEach((step, at) => {
    const from = Math.max(0, xOf(scene, step.start));
    const to = Math.min(width, xOf(scene, step.end));
    if (to <= 0 || from >= width || to - from < 0.5) return;
    context.globalAlpha = at % 2 === 0 ? 0.22 : 0.36;
    context.fillStyle = palette.accent;
    context.fillRect(from, RULER, to - from - 1, STEPS - 2);
    context.globalAlpha = 1;
    context.fillStyle = palette.text;
    const text = fitted(context, `${step.name} · ${time(step.end - step.start)}`, to - from - 8);
    if (text) context.fillText(text, from + 4, RULER + STEPS / 2 - 1);
  });
}

/** Marks the matches of a search on the ruler, at most one per pixel. */
function matches(scene: Scene, spans: Spans): void {
  const { context, width, palette, view } = scene;
  context.fillStyle = palette.arrow;
  let last = -1;
  for (let at = 0; at < spans.length; at += 1) {
    const start = spans.start_ns[at] as number;
    if (start > view.end) break;
    const x = Math.round(xOf(scene, start));
    if (x < 0 || x > width || x === last) continue;
    last = x;
    context.fillRect(x, 0, 2, 5);
  }
}

/** The number of pixels that is requested for the curve of a chunk. */
export const CURVE_PIXELS = CHUNK_PIXELS / 2;
