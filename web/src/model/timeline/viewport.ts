// What part of time is in sight. Times are ns after the start of the recording.

export interface Viewport {
  start: number;
  end: number;
}

/** The shortest stretch that can be looked at, in ns. */
const SHORTEST = 20;

/** A viewport that is not too short, and no further out than the whole trace with a margin. */
export function clamped(view: Viewport, whole: Viewport): Viewport {
  const most = (whole.end - whole.start) * 1.1 || 1000;
  const length = Math.min(Math.max(view.end - view.start, SHORTEST), most);
  const middle = (view.start + view.end) / 2;
  const margin = most * 0.05;
  const start = Math.min(Math.max(middle - length / 2, whole.start - margin), whole.end + margin - length);
  return { start, end: start + length };
}

/** Nearer by a factor, where the time `at` keeps its place. */
export function zoomed(view: Viewport, factor: number, at: number): Viewport {
  return { start: at - (at - view.start) * factor, end: at + (view.end - at) * factor };
}

/** Later by a part of what is in sight. */
export function moved(view: Viewport, share: number): Viewport {
  const by = (view.end - view.start) * share;
  return { start: view.start + by, end: view.end + by };
}

/** Something with room on both sides. */
export function around(start: number, end: number, room = 0.4): Viewport {
  const length = Math.max(end - start, 1);
  return { start: start - length * room, end: end + length * room };
}

/** The same zoom with a time in the middle; nearer when something would be too small to see, farther when it would not fit. */
export function centered(view: Viewport, start: number, end: number): Viewport {
  const length = view.end - view.start;
  if (end - start > length * 0.8 || end - start < length / 400)
    return around(start, end, end - start > length ? 0.2 : 6);
  const middle = (start + end) / 2;
  return { start: middle - length / 2, end: middle + length / 2 };
}

/** Round times for a ruler, about so many of them. */
export function ticks(view: Viewport, about: number): { step: number; times: number[] } {
  const raw = (view.end - view.start) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, ([1, 2, 5, 10].find((n) => n * power >= raw) ?? 10) * power);
  const times: number[] = [];
  for (let at = Math.ceil(view.start / step) * step; at <= view.end; at += step) times.push(at);
  return { step, times };
}
