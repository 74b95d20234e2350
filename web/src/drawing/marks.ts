// What a timeline shows above its spans: the critical path, a selected area, the selected span and its flow arrows.

import type { Related, Relation, Spans } from "kinetoscope/remote";
import { LEVEL } from "../model/timeline/layout";
import { runsOf, type Path } from "../model/timeline/path";
import { xOf, yOf, type Area, type Scene } from "./scene";

/** The thickness of the critical path, in pixels. */
const PATH = 3;

/** Draws the critical path as a line above each track that it runs through, with steps from one track to the next. */
export function criticalPath(scene: Scene, path: Path): void {
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

/** Draws a selected area. */
export function areaBox(scene: Scene, area: Area): void {
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

/** Draws a line around a span. */
export function outline(
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
export function links(scene: Scene, related: Related): void {
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
