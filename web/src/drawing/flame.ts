// Draws flame graphs.

import { colorOf } from "../model/colors";
import { shortName } from "../model/short-name";
import type { Palette } from "./palette";
import { FONT, fitted } from "./text";

/** The height of a level in pixels. */
export const FLAME_LEVEL = 20;

export interface DrawnBox {
  name: string;
  /** Fractions of the width. */
  from: number;
  to: number;
  depth: number;
  /** Whether the box is an ancestor of the focused node. */
  faded?: boolean;
  /** In place of the colour of its name: from -1, shorter, to 1, longer. */
  shade?: number;
}

export interface FlameScene {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  scroll: number;
  boxes: readonly DrawnBox[];
  palette: Palette;
  matches: ((name: string) => boolean) | undefined;
  hovered: DrawnBox | undefined;
}

export function drawFlame(scene: FlameScene): void {
  const { context, width, height, palette } = scene;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = "middle";
  for (const box of scene.boxes) drawBox(scene, box);
  if (scene.hovered) {
    context.strokeStyle = palette.text;
    context.strokeRect(
      scene.hovered.from * width + 0.5,
      yOf(scene, scene.hovered) + 0.5,
      (scene.hovered.to - scene.hovered.from) * width - 1,
      FLAME_LEVEL - 2,
    );
  }
}

const yOf = (scene: FlameScene, box: DrawnBox): number => box.depth * FLAME_LEVEL - scene.scroll;

function fillOf(palette: Palette, { name, shade }: DrawnBox): string {
  if (shade === undefined) return palette.boxes[colorOf(name)] as string;
  const middle = (palette.shades.length - 1) / 2;
  // Small changes are visible: the steps are even in the square root.
  const place = Math.round(middle + Math.sign(shade) * Math.sqrt(Math.abs(shade)) * middle);
  return palette.shades[place] as string;
}

function drawBox(scene: FlameScene, box: DrawnBox): void {
  const { context, width, height, palette, matches } = scene;
  const y = yOf(scene, box);
  if (y + FLAME_LEVEL < 0 || y > height) return;
  const [x, wide] = [box.from * width, (box.to - box.from) * width];
  const isDim = matches !== undefined && !matches(box.name);
  context.fillStyle = isDim ? palette.dimmed : fillOf(palette, box);
  context.globalAlpha = box.faded ? 0.45 : 1;
  context.fillRect(x, y, Math.max(0.5, wide - (wide > 3 ? 1 : 0)), FLAME_LEVEL - 1);
  context.globalAlpha = 1;
  if (wide < 26) return;
  context.fillStyle = isDim || box.faded ? palette.text : palette.boxText;
  const text = fitted(context, shortName(box.name), wide - 8);
  if (text) context.fillText(text, Math.max(x, 0) + 4, y + FLAME_LEVEL / 2);
}

/** Returns the box at a position. */
export function flameBoxAt<Box extends DrawnBox>(
  boxes: readonly Box[],
  x: number,
  y: number,
  width: number,
): Box | undefined {
  const depth = Math.floor(y / FLAME_LEVEL);
  const at = x / width;
  return boxes.find((box) => box.depth === depth && at >= box.from && at < box.to);
}
