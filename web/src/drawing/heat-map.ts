// Draws a heat map of ranks and steps. Only the visible lines are drawn.

import { binned, type Line } from "../model/heat-map";
import { FONT, fitted } from "./text";

/** The height of the axis above the lines, in pixels. */
export const AXIS = 22;

/** The narrowest cell, in pixels. More steps share cells. */
const NARROWEST = 3;

/** The number of colours between the ends of the scale. */
const SHADES = 64;

export interface HeatColors {
  background: string;
  text: string;
  quiet: string;
  line: string;
  accent: string;
  missing: string;
  /** From the low end to the high end. */
  scale: string[];
}

export interface HeatScene {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  scroll: number;
  /** The height of a line and the width of the names, in pixels. */
  lineHeight: number;
  names: number;
  lines: readonly Line[];
  nameOf: (line: Line) => string;
  steps: readonly number[];
  scale: readonly [number, number];
  /** The selected line and step. */
  active: { line: number; step: number } | undefined;
  colors: HeatColors;
}

function channels(color: string): [number, number, number] {
  const number = Number.parseInt(color.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

/** Returns the colours of a scale between colours of the form `#rrggbb`. */
export function shades(stops: readonly string[]): string[] {
  const all = stops.map(channels);
  return Array.from({ length: SHADES }, (_, at) => {
    const place = (at / (SHADES - 1)) * (all.length - 1);
    const [from, to] = [all[Math.floor(place)], all[Math.ceil(place)]] as [number[], number[]];
    const mixed = from.map((value, channel) => Math.round(value + ((to[channel] as number) - value) * (place % 1)));
    return `rgb(${mixed.join(" ")})`;
  });
}

export function heatColors(): HeatColors {
  const styles = getComputedStyle(document.documentElement);
  const color = (name: string): string => styles.getPropertyValue(name).trim();
  return {
    background: color("--background"),
    text: color("--text"),
    quiet: color("--quiet"),
    line: color("--line"),
    accent: color("--heat-active"),
    missing: color("--dimmed"),
    scale: shades([0, 1, 2, 3, 4].map((at) => color(`--heat-${at}`))),
  };
}

/** The number of cells of a line. */
function cellsIn(scene: Pick<HeatScene, "width" | "names" | "steps">): number {
  return Math.max(1, Math.min(scene.steps.length, Math.floor((scene.width - scene.names) / NARROWEST)));
}

/** Returns the line and step at a position; undefined next to the cells. */
export function cellAt(
  scene: Pick<HeatScene, "width" | "names" | "steps" | "lineHeight" | "lines" | "scroll">,
  x: number,
  y: number,
): { line: number; step: number } | undefined {
  const line = Math.floor((y - AXIS + scene.scroll) / scene.lineHeight);
  if (y < AXIS || line < 0 || line >= scene.lines.length || x >= scene.width) return undefined;
  const share = Math.max(0, (x - scene.names) / (scene.width - scene.names));
  return { line, step: Math.min(scene.steps.length - 1, Math.floor(share * scene.steps.length)) };
}

function drawAxis(scene: HeatScene): void {
  const { context, width, names, steps, colors } = scene;
  context.fillStyle = colors.background;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = colors.quiet;
  context.textAlign = "center";
  const wide = (width - names) / steps.length;
  const each = Math.max(1, Math.ceil(46 / wide));
  for (let at = 0; at < steps.length; at += each) {
    const x = names + (at + 0.5) * wide;
    if (x < width - 14) context.fillText(String(steps[at]), x, AXIS / 2);
  }
  context.textAlign = "left";
}

export function drawHeatMap(scene: HeatScene): void {
  const { context, width, height, scroll, lineHeight, names, lines, scale, colors, active, steps } = scene;
  context.fillStyle = colors.background;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = "middle";
  const cells = cellsIn(scene);
  const wide = (width - names) / cells;
  const gap = wide > 6 && lineHeight > 8 ? 1 : 0;
  const first = Math.floor(scroll / lineHeight);
  const last = Math.min(lines.length, Math.ceil((scroll + height) / lineHeight));
  for (let at = first; at < last; at += 1) {
    const line = lines[at] as Line;
    const y = AXIS + at * lineHeight - scroll;
    binned(line.values, cells).forEach((value, cell) => {
      const share = (value - scale[0]) / (scale[1] - scale[0]);
      const shade = Math.round(Math.min(1, Math.max(0, share)) * (colors.scale.length - 1));
      context.fillStyle = Number.isNaN(value) ? colors.missing : (colors.scale[shade] as string);
      context.fillRect(names + cell * wide, y, Math.max(1, wide - gap), lineHeight - gap);
    });
    if (lineHeight < 11 && at !== active?.line) continue;
    context.fillStyle = at === active?.line ? colors.text : colors.quiet;
    const text = fitted(context, scene.nameOf(line), names - 10);
    if (text) context.fillText(text, 2, y + (lineHeight - gap) / 2);
  }
  drawAxis(scene);
  if (!active) return;
  const y = AXIS + active.line * lineHeight - scroll;
  const step = (width - names) / steps.length;
  context.strokeStyle = colors.accent;
  context.lineWidth = 2;
  if (y >= AXIS - lineHeight) {
    const x = names + active.step * step;
    context.strokeRect(x + 1, Math.max(AXIS, y) + 1, Math.max(4, step) - gap - 2, lineHeight - gap - 2);
  }
  context.lineWidth = 1;
}
