// Texts that fit: widths are measured once.

export const FONT = "11px system-ui, -apple-system, 'Segoe UI', sans-serif";

const widths = new Map<string, number>();

/** The width of a text in pixels, in the font that is set. */
export function widthOf(context: CanvasRenderingContext2D, text: string): number {
  const found = widths.get(text);
  if (found !== undefined) return found;
  const width = context.measureText(text).width;
  if (widths.size > 50_000) widths.clear();
  widths.set(text, width);
  return width;
}

/** As much of a text as has room, with … where something is missing; nothing when it would be a letter or two. */
export function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  const width = widthOf(context, text);
  if (width <= room) return text;
  const letters = Math.floor(((room - widthOf(context, "…")) / width) * text.length);
  return letters < 3 ? "" : `${text.slice(0, letters)}…`;
}
