// The answer of `ranks`, by kinds of rows.

import type { RanksRow } from "kinetoscope/remote";
import type { OfKind } from "./kinds";

export type RankRow = OfKind<RanksRow, "rank">;
export type Straggler = OfKind<RanksRow, "straggler">;
export type SlowNode = OfKind<RanksRow, "slow_node">;
export type SlowLink = OfKind<RanksRow, "slow_link">;
export type CollectiveRow = OfKind<RanksRow, "collective">;

/** The kinds of rows whose number grows with the ranks or the groups, but not with the steps or the collectives. */
export const FACTS = [
  "run",
  "note",
  "fitness",
  "straggler",
  "slow_node",
  "slow_link",
  "clock",
  "rank",
  "group",
  "bandwidth",
  "step",
] as const;

/** Formats numbers as ranges: `0-3, 7`. */
export function ranges(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length;) {
    let last = at;
    while (sorted[last + 1] === (sorted[last] as number) + 1) last += 1;
    const [from, to] = [sorted[at], sorted[last]];
    if (last - at > 1) parts.push(`${from}-${to}`);
    else parts.push(...sorted.slice(at, last + 1).map(String));
    at = last + 1;
  }
  return parts.join(", ");
}

/** Formats numbers as ranges, at most as many as fit into a few words. */
export function shortRanges(numbers: readonly number[], most = 24): string {
  const text = ranges(numbers);
  return text.length <= most ? text : `${text.slice(0, text.lastIndexOf(", ", most) + 1 || most)} …`;
}

/** Parses ranges such as `0-3, 7`; undefined if the text is none. */
export function parseRanges(text: string, most = 4096): number[] | undefined {
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const [, from, to] = /^\s*(\d{1,7})\s*(?:-\s*(\d{1,7})\s*)?$/.exec(part) ?? [];
    if (from === undefined) return undefined;
    const [first, last] = [Number(from), Number(to ?? from)];
    if (last < first || last - first >= most) return undefined;
    for (let number = first; number <= last; number += 1) found.add(number);
  }
  return [...found].sort((a, b) => a - b);
}

/** What a collective's ranks waited, as curves over the starts of the collectives of a group. */
export interface Skew {
  /** The ranks that took part in at least one of them. */
  ranks: number[];
  /** The time after the first collective, in s. */
  seconds: Float64Array;
  /** How long before the last rank each rank arrived, in ns; NaN where it did not take part. By rank, then by time. */
  beforeLast: Float64Array[];
}

/** A process group. Groups of different ranks can have the same name. */
export type GroupRow = Pick<OfKind<RanksRow, "group">, "group" | "description" | "ranks">;

/** Whether collectives belong to a group. */
export function isOf(row: GroupRow, group: GroupRow): boolean {
  const members = group.ranks;
  const hasName = row.group === group.group && row.description === group.description;
  return hasName && row.ranks.every((rank) => members.includes(rank));
}

/** A text that identifies a group. */
export function groupKey(group: GroupRow): string {
  return `${group.group} ${group.description ?? ""} ${ranges(group.ranks)}`;
}

/** Returns the arrivals of the ranks of a group. */
export function skewOf(rows: readonly CollectiveRow[], group: GroupRow): Skew {
  const startOf = (row: CollectiveRow): bigint => BigInt(row.start_ns);
  const own = rows.filter((row) => row.counted && isOf(row, group));
  own.sort((a, b) => Number(startOf(a) - startOf(b)));
  const ranks = [...new Set(own.flatMap((row) => row.ranks))].sort((a, b) => a - b);
  const index = new Map(ranks.map((rank, at) => [rank, at]));
  const first = own[0] ? startOf(own[0]) : 0n;
  const beforeLast = ranks.map(() => new Float64Array(own.length).fill(NaN));
  own.forEach((row, at) => {
    row.ranks.forEach((rank, place) => {
      const curve = beforeLast[index.get(rank) as number] as Float64Array;
      curve[at] = ((row.wait_ns ?? []) as number[])[place] ?? NaN;
    });
  });
  return { ranks, seconds: Float64Array.from(own, (row) => Number(startOf(row) - first) / 1e9), beforeLast };
}

/** The smallest, the median and the largest value of all curves at each point. */
export function band(curves: readonly Float64Array[], length: number): [Float64Array, Float64Array, Float64Array] {
  const out = [0, 1, 2].map(() => new Float64Array(length).fill(NaN)) as [Float64Array, Float64Array, Float64Array];
  const column = new Float64Array(curves.length);
  for (let at = 0; at < length; at += 1) {
    let count = 0;
    for (const curve of curves) {
      const value = curve[at] as number;
      if (!Number.isNaN(value)) column[count++] = value;
    }
    if (count === 0) continue;
    const sorted = column.subarray(0, count).sort();
    out[0][at] = sorted[0] as number;
    out[1][at] = sorted[count >> 1] as number;
    out[2][at] = sorted[count - 1] as number;
  }
  return out;
}
