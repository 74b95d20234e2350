// Truncates text to a width; measured widths are cached.

import { visible } from "../model/visible";

export const FONT = "11px system-ui, -apple-system, 'Segoe UI', sans-serif";

const widths = new Map<string, number>();

/** Returns the width of a text in pixels, in the font of the context. */
export function widthOf(context: CanvasRenderingContext2D, text: string): number {
  const found = widths.get(text);
  if (found !== undefined) return found;
  const width = context.measureText(text).width;
  if (widths.size > 50_000) widths.clear();
  widths.set(text, width);
  return width;
}

/** Truncates a text to `room` pixels and appends `…`; returns an empty string if fewer than three letters fit. */
export function fitted(context: CanvasRenderingContext2D, name: string, room: number): string {
  const text = visible(name);
  const width = widthOf(context, text);
  if (width <= room) return text;
  const letters = Math.floor(((room - widthOf(context, "…")) / width) * text.length);
  return letters < 3 ? "" : `${text.slice(0, letters)}…`;
}
