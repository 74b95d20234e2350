// The ruler of a timeline, its steps, and the lines that both draw through the tracks.

import type { Spans } from "kinetoscope/remote";
import { time } from "../model/format";
import { ticks, type Viewport } from "../model/timeline/viewport";
import { RULER, STEPS, xOf, type Scene } from "./scene";
import { fitted } from "./text";

/** The smallest distance of the lines at the starts of steps, in pixels. */
const CLOSEST = 5;

/** Returns the round times of the ruler, after its origin. */
function rulerTicks({ view, width, origin }: Scene): { step: number; times: number[] } {
  return ticks({ start: view.start - origin, end: view.end - origin }, width / 120);
}

/** Draws vertical lines at the ticks and at the starts of steps. */
export function grid(scene: Scene): void {
  const { context, width, height, palette, header, origin } = scene;
  context.fillStyle = palette.line;
  for (const at of rulerTicks(scene).times)
    context.fillRect(Math.round(xOf(scene, origin + at)), header, 1, height - header);
  context.fillStyle = palette.quiet;
  context.globalAlpha = 0.5;
  let last = -Infinity;
  for (const step of scene.steps) {
    const x = Math.round(xOf(scene, step.start));
    if (x < 0 || x > width || x - last < CLOSEST) continue;
    last = x;
    context.fillRect(x, header, 1, height - header);
  }
  context.globalAlpha = 1;
}

/** Draws the ruler, the strip of the steps, and the marks of matches. */
export function ruler(scene: Scene): void {
  const { context, width, palette, header, origin } = scene;
  context.fillStyle = palette.raised;
  context.fillRect(0, 0, width, header);
  context.fillStyle = palette.line;
  context.fillRect(0, header - 1, width, 1);
  const { step, times } = rulerTicks(scene);
  for (const at of times) {
    const x = Math.round(xOf(scene, origin + at));
    context.fillStyle = palette.line;
    context.fillRect(x, RULER - 8, 1, 8);
    context.fillStyle = palette.quiet;
    context.fillText(tickText(at, step), x + 4, RULER / 2);
  }
  if (header > RULER) stepStrip(scene);
  if (scene.found) matches(scene, scene.found.spans);
}

/** Marks the time of the events that are in memory. */
export function loaded(scene: Scene, { start, end }: Viewport): void {
  const { context, width, palette } = scene;
  const [from, to] = [Math.max(0, xOf(scene, start)), Math.min(width, xOf(scene, end))];
  if (to < 0 || from > width) return;
  context.fillStyle = palette.accent;
  context.fillRect(from, 0, Math.max(2, to - from), 3);
}

/** Makes everything outside of a time range pale. */
export function outside(scene: Scene, start: number, end: number): void {
  const { context, width, height, palette, header } = scene;
  const [from, to] = [Math.max(0, xOf(scene, start)), Math.min(width, xOf(scene, end))];
  context.fillStyle = palette.background;
  context.globalAlpha = 0.7;
  if (from > 0) context.fillRect(0, header, from, height - header);
  if (to < width) context.fillRect(to, header, width - to, height - header);
  context.globalAlpha = 1;
}

/** Draws a vertical line at a time. */
export function cursor(scene: Scene, at: number): void {
  const { context, height, palette } = scene;
  context.fillStyle = palette.accent;
  context.fillRect(Math.round(xOf(scene, at)), 0, 1, height);
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
