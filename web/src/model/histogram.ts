// Histograms of durations.

export interface Histogram {
  /** The edges of the bins in ns: one more than counts. */
  edges: number[];
  counts: number[];
  /** Whether the bins have equal widths on a logarithmic axis. */
  isLogarithmic: boolean;
  min: number;
  median: number;
  p95: number;
  max: number;
}

/** Returns a quantile of sorted values, with linear interpolation. */
export function quantile(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return NaN;
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] as number;
  const high = sorted[Math.ceil(at)] as number;
  return low + (high - low) * (at - Math.floor(at));
}

/** Returns bins of equal width; on a logarithmic axis if the longest duration is over 20 times the shortest. */
export function histogram(durations: Float64Array, bins = 40): Histogram {
  const sorted = durations.slice().sort();
  const min = sorted[0] ?? 0;
  const max = sorted[sorted.length - 1] ?? 0;
  const isLogarithmic = max > 20 * Math.max(min, 1);
  const to = (value: number): number => (isLogarithmic ? Math.log(Math.max(value, 1)) : value);
  const from = (value: number): number => (isLogarithmic ? Math.exp(value) : value);
  const width = (to(max) - to(min)) / bins || 1;
  const counts = new Array<number>(bins).fill(0);
  for (const duration of sorted) {
    const bin = Math.min(bins - 1, Math.floor((to(duration) - to(min)) / width));
    counts[bin] = (counts[bin] as number) + 1;
  }
  const edges = Array.from({ length: bins + 1 }, (_, at) => from(to(min) + at * width));
  return { edges, counts, isLogarithmic, min, median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), max };
}
