// Which colour a name has, in every drawing of it.

/** How many colours there are: `--box-0` and so on in the styles. */
export const COLORS = 16;

const known = new Map<string, number>();

/** The number of a name's colour. Numbers in the name do not count, so that layers of one kind look alike. */
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
