// What the page shows of a history: the series of each metric with its changes and levels.

import type { TrendChangeRow, TrendResult, TrendRow, TrendRun } from "kinetoscope/remote";
import { bytes, count, time } from "./format";
import { ofKind } from "./kinds";

/** A part of a series without a change: its first and last run, and its mean. */
export interface Level {
  from: number;
  to: number;
  value: number;
}

/** A metric over the runs of a history. */
export interface Series {
  metric: string;
  unit: TrendRow["unit"];
  /** The value of each run; null if the run lacks the metric. */
  values: readonly (number | null)[];
  /** The changes, the earliest first. */
  changes: readonly TrendChangeRow[];
  levels: readonly Level[];
}

/** Returns the changes, the latest first. */
export const changesOf = ({ rows }: TrendResult): TrendChangeRow[] => ofKind(rows, "change");

function levelsOf(
  { before, after }: TrendRow,
  changes: readonly TrendChangeRow[],
  first: number,
  last: number,
): Level[] {
  const starts = [first, ...changes.map(({ run }) => run)];
  return starts.map((from, at) => {
    const [next, previous] = [changes[at], changes[at - 1]];
    const value = next?.before ?? previous?.after ?? (before + after) / 2;
    return { from, to: next ? next.run - 1 : last, value };
  });
}

/** Returns the metrics: those with the latest changes first, then the others in the order of the answer. */
export function seriesOf(result: TrendResult): Series[] {
  const changed = changesOf(result);
  const all = ofKind(result.rows, "series");
  const place = (metric: string): number => {
    const at = changed.findIndex((row) => row.metric === metric);
    return at < 0 ? changed.length : at;
  };
  const series = all.map((row): Series => {
    const values = row.values as (number | null)[];
    const changes = changed.filter(({ metric }) => metric === row.metric).sort((a, b) => a.run - b.run);
    const known = values.flatMap((value, at) => (value === null ? [] : [at + 1]));
    const levels = levelsOf(row, changes, known[0] ?? 1, known.at(-1) ?? 1);
    return { metric: row.metric, unit: row.unit, values, changes, levels };
  });
  return series.sort((a, b) => place(a.metric) - place(b.metric));
}

/** Formats a value of a metric. */
export function shown(unit: TrendRow["unit"], value: number): string {
  if (unit === "ns") return time(value);
  if (unit === "bytes") return bytes(value);
  return Number.isInteger(value) ? count(value) : value.toFixed(1);
}

/** A commit with the length that people use. */
export const shortCommit = (commit: string): string => commit.slice(0, 10);

/** Describes a run: its number, commit and time, as far as they are known. */
export function describeRun({ run, commit, time_s }: TrendRun, name: (run: number) => string): string {
  const time = time_s > 0 ? new Date(time_s * 1000).toISOString().slice(0, 16).replace("T", " ") : "";
  return [name(run), shortCommit(commit), time].filter((part) => part !== "").join(" · ");
}

/** The number of machines that the runs are known to be of. */
export const hostsOf = ({ runs }: TrendResult): number =>
  new Set(runs.map(({ host }) => host).filter((host) => host !== "")).size;

/** The range of the values of a chart, with a margin: changes are visible, whatever their distance from 0. */
export function rangeOf({ values }: Series): [number, number] {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const margin = Math.max((high - low) * 0.15, Math.abs(high) * 0.01, 1e-9);
  return [low - margin, high + margin];
}
