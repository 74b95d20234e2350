// Maps names to colours, the same in all drawings.

/** The number of colours: `--box-0` and so on in the styles. */
export const COLORS = 16;

const known = new Map<string, number>();

/** Returns the colour of a name. Digits are ignored, so that layers of one kind have the same colour. */
export function colorOf(name: string): number {
  const found = known.get(name);
  if (found !== undefined) return found;
  let hash = 2166136261;
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    if (code >= 48 && code <= 57) continue;
    hash = Math.imul(hash ^ code, 16777619);
  }
  const color = ((hash >>> 0) ^ (hash >>> 13)) % COLORS;
  const number = color < 0 ? color + COLORS : color;
  if (known.size > 200_000) known.clear();
  known.set(name, number);
  return number;
}
