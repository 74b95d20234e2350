// Marks of a chart: bars and dots, which can be found by their position.

export interface Mark {
  /** The edges in the units of the axes; a dot has none between them. */
  left: number;
  right: number;
  low: number;
  high: number;
  /** The name of its colour in the styles. */
  color: string;
  /** The index of what it shows. */
  at: number;
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Returns the index of the nearest box that is at most `reach` pixels away, and in y at most `reachY`. */
export function nearest(
  boxes: readonly Box[],
  x: number,
  y: number,
  reach: number,
  reachY = reach,
): number | undefined {
  let best: number | undefined;
  let least = reach;
  boxes.forEach(({ left, right, top, bottom }, at) => {
    const [across, along] = [Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom)];
    const distance = Math.hypot(across, along);
    if (along > reachY || distance > least || (distance === least && best !== undefined)) return;
    best = at;
    least = distance;
  });
  return best;
}

/** The ratio of values from which an axis is logarithmic. */
const RATIO = 20;

export interface Scale {
  range: [number, number];
  isLogarithmic: boolean;
}

/** Returns an axis of values with a margin; it is logarithmic if the largest one is many times the smallest. */
export function scaleOf(values: readonly number[]): Scale {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (low > high) return { range: [0, 1], isLogarithmic: false };
  if (low > 0 && high > RATIO * low) return { range: [low / 1.25, high * 1.25], isLogarithmic: true };
  const margin = (high - low || Math.abs(high) || 1) * 0.06;
  return { range: [low >= 0 ? Math.max(0, low - margin) : low - margin, high + margin], isLogarithmic: false };
}

/** Returns the round values of a logarithmic axis: 1, 2 and 5 of each power of ten, or only the powers of a long axis. */
export function logarithmicTicks(low: number, high: number): number[] {
  const digits = high > 3000 * low ? [1] : [1, 2, 5];
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const powers = Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
  return powers.flatMap((power) => digits.map((digit) => digit * power)).filter((tick) => tick >= low && tick <= high);
}
