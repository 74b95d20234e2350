// The visible time range. Times are in ns from the start of the recording.

export interface Viewport {
  start: number;
  end: number;
}

/** The shortest visible range in ns. */
const SHORTEST = 20;

/** Limits a viewport: not too short, and within the trace plus a margin. */
export function clamped(view: Viewport, whole: Viewport): Viewport {
  const most = (whole.end - whole.start) * 1.1 || 1000;
  const length = Math.min(Math.max(view.end - view.start, SHORTEST), most);
  const middle = (view.start + view.end) / 2;
  const margin = most * 0.05;
  const start = Math.min(Math.max(middle - length / 2, whole.start - margin), whole.end + margin - length);
  return { start, end: start + length };
}

/** Zooms in by a factor; the time `at` keeps its position. */
export function zoomed(view: Viewport, factor: number, at: number): Viewport {
  return { start: at - (at - view.start) * factor, end: at + (view.end - at) * factor };
}

/** Moves later by a fraction of the visible range. */
export function moved(view: Viewport, share: number): Viewport {
  const by = (view.end - view.start) * share;
  return { start: view.start + by, end: view.end + by };
}

/** Returns a range with a margin on both sides. */
export function around(start: number, end: number, room = 0.4): Viewport {
  const length = Math.max(end - start, 1);
  return { start: start - length * room, end: end + length * room };
}

/** Centers a range at the same zoom; zooms in if it would be too small to see, out if it would not fit. */
export function centered(view: Viewport, start: number, end: number): Viewport {
  const length = view.end - view.start;
  if (end - start > length * 0.8 || end - start < length / 400)
    return around(start, end, end - start > length ? 0.2 : 6);
  const middle = (start + end) / 2;
  return { start: middle - length / 2, end: middle + length / 2 };
}

/** Returns about `about` round times for a ruler. */
export function ticks(view: Viewport, about: number): { step: number; times: number[] } {
  const raw = (view.end - view.start) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, ([1, 2, 5, 10].find((n) => n * power >= raw) ?? 10) * power);
  const times: number[] = [];
  for (let at = Math.ceil(view.start / step) * step; at <= view.end; at += step) times.push(at);
  return { step, times };
}
