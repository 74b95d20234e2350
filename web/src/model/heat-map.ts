// Ranks and steps as a grid, and the lines of it that a heat map draws.

import type { Columns, RanksRow } from "kinetoscope/remote";
import { quantile } from "./histogram";

/** What a heat map shows of a rank in a step, in ns. */
export const MEASURES = ["own_ns", "waited_ns", "late_ns"] as const;

export type Measure = (typeof MEASURES)[number];

/** The orders of the lines. */
export const ORDERS = ["imbalance", "rank"] as const;

export type Order = (typeof ORDERS)[number];

/** Values of all ranks and steps, by rank and then by step; NaN where a rank does not have the step. */
export interface Grid {
  ranks: number[];
  steps: number[];
  values: Record<Measure, Float64Array>;
}

/** A line of the heat map: a rank, or a class of ranks that behave alike. */
export interface Line {
  ranks: number[];
  /** The value in each step; of a class, the mean. */
  values: Float64Array;
  /** How much more than the median rank it had, in the mean of the steps, in ns. */
  excess: number;
}

/** Returns the grid of the rows of the kind `rank_step`. */
export function gridOf({ length, columns }: Columns<RanksRow>): Grid {
  const [rank, step] = [columns.rank as unknown as Float64Array, columns.step as unknown as Float64Array];
  const ranks = [...new Set(rank.subarray(0, length))].sort((a, b) => a - b);
  const steps = [...new Set(step.subarray(0, length))].sort((a, b) => a - b);
  const [rowOf, columnOf] = [ranks, steps].map((all) => new Map(all.map((number, at) => [number, at]))) as [
    Map<number, number>,
    Map<number, number>,
  ];
  const values = Object.fromEntries(
    MEASURES.map((measure) => {
      const from = columns[measure] as unknown as Float64Array;
      const all = new Float64Array(ranks.length * steps.length).fill(NaN);
      for (let at = 0; at < length; at += 1) {
        const row = rowOf.get(rank[at] as number) as number;
        all[row * steps.length + (columnOf.get(step[at] as number) as number)] = from[at] as number;
      }
      return [measure, all];
    }),
  ) as Record<Measure, Float64Array>;
  return { ranks, steps, values };
}

function medians(values: Float64Array, ranks: number, steps: number): Float64Array {
  const column = new Float64Array(ranks);
  return Float64Array.from({ length: steps }, (_, step) => {
    let count = 0;
    for (let row = 0; row < ranks; row += 1) {
      const value = values[row * steps + step] as number;
      if (!Number.isNaN(value)) column[count++] = value;
    }
    return quantile(column.subarray(0, count).sort(), 0.5);
  });
}

/** Returns the lines of a grid. With `classOf`, ranks of the same class are one line. */
export function linesOf(
  grid: Grid,
  measure: Measure,
  order: Order,
  classOf: ((rank: number) => number) | undefined,
): Line[] {
  const width = grid.steps.length;
  const values = grid.values[measure];
  const usual = medians(values, grid.ranks.length, width);
  const members = new Map<number, number[]>();
  grid.ranks.forEach((rank, row) => {
    const key = classOf ? classOf(rank) : rank;
    const known = members.get(key);
    if (known) known.push(row);
    else members.set(key, [row]);
  });
  const lines = [...members.values()].map((rows): Line => {
    const line = new Float64Array(width).fill(NaN);
    let [excess, count] = [0, 0];
    for (let step = 0; step < width; step += 1) {
      let [sum, known] = [0, 0];
      for (const row of rows) {
        const value = values[row * width + step] as number;
        if (!Number.isNaN(value)) [sum, known] = [sum + value, known + 1];
      }
      if (known === 0) continue;
      line[step] = sum / known;
      excess += sum / known - (usual[step] as number);
      count += 1;
    }
    return {
      ranks: rows.map((row) => grid.ranks[row] as number),
      values: line,
      excess: count > 0 ? excess / count : 0,
    };
  });
  // The sort is stable: lines are in the order of their first rank before.
  return order === "rank" ? lines : lines.sort((a, b) => b.excess - a.excess);
}

/** Returns the values of the ends of the colour scale. Few values are outside of it: they have the colour of the end. */
export function scaleOf(lines: readonly Line[], measure: Measure): [number, number] {
  const all = Float64Array.from(
    lines.flatMap((line) => [...line.values].filter((value) => !Number.isNaN(value))),
  ).sort();
  if (all.length === 0) return [0, 1];
  const low = measure === "own_ns" ? quantile(all, 0.01) : 0;
  const high = Math.max(quantile(all, 0.995), low);
  return [low, high > low ? high : low + 1];
}

/** Reduces values to a number of bins; each has the largest of its values. */
export function binned(values: Float64Array, bins: number): Float64Array {
  if (bins >= values.length) return values;
  const out = new Float64Array(bins).fill(NaN);
  values.forEach((value, at) => {
    const bin = Math.floor((at * bins) / values.length);
    const known = out[bin] as number;
    if (Number.isNaN(known) || value > known) out[bin] = value;
  });
  return out;
}
