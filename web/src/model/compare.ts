// What the page shows of a comparison: totals, a waterfall, and the rows of its table.

import type { DiffIdleRow, DiffMemoryRow, DiffPartRow, DiffRow } from "kinetoscope/remote";
import { label } from "./format";
import { ofKind, type OfKind } from "./kinds";

export type Total = OfKind<DiffRow, "total">;
export type Phase = OfKind<DiffRow, "phase" | "wait">;
export type Part = DiffPartRow;
export type Speed = OfKind<DiffRow, "speed">;
/** The rows of the table: what runs, idle time, and memory. */
export type Changed = Timed | DiffMemoryRow;

/** What runs, and idle time. */
export type Timed = Part | DiffIdleRow;

/** Whether a row is about time: not about memory. */
export const isTimed = (row: Changed): row is Timed => row.kind !== "memory";

export const totalsOf = (rows: readonly DiffRow[]): Total[] => {
  const order = ["wall", "device_busy", "device_idle"];
  return ofKind(rows, "total").sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
};

export const phasesOf = (rows: readonly DiffRow[]): Phase[] =>
  rows.filter((row): row is Phase => row.kind === "phase" || row.kind === "wait");

export const speedsOf = (rows: readonly DiffRow[]): Speed[] => ofKind(rows, "speed");

export const notesOf = (rows: readonly DiffRow[]): string[] => ofKind(rows, "note").map((row) => row.message);

const SUMS = new Set(["total", "phase", "wait", "step", "speed", "note"]);

export const changesOf = (rows: readonly DiffRow[]): Changed[] =>
  rows.filter((row): row is Changed => !SUMS.has(row.kind));

/** Returns the name of a row for people. Those of idle time are words. */
export const nameOf = ({ kind, name }: Changed): string => (kind === "idle" ? label(name) : name);

/** How sure a change is, in words. */
export function certainty(significant: boolean | null): "change" | "noise" | "unknown" {
  return significant === null ? "unknown" : significant ? "change" : "noise";
}

/** A bar of a waterfall: from the sum before it to the sum after it. */
export interface Bar {
  name: string;
  from: number;
  to: number;
  /** The row; undefined for the ends and for the sum of the rows that have no bar. */
  row: Timed | undefined;
}

/**
 * Returns the waterfall of a total: its value in A, the contributions of at most `most` rows, the sum of the others, and its
 * value in B. Each bar begins where the one before it ends.
 */
export function waterfall(
  rows: readonly DiffRow[],
  total: Total,
  most: number,
  rest: (count: number) => string,
): Bar[] {
  const timed = changesOf(rows).filter(isTimed);
  const parts = timed.filter((row) => row.part_of === total.name && row.contribution_ns !== 0);
  const shown = parts.slice(0, most);
  const others = parts.slice(most);
  const bars: Bar[] = [{ name: "A", from: 0, to: total.a_ns, row: undefined }];
  let at = total.a_ns;
  for (const row of shown) {
    const to = at + row.contribution_ns;
    bars.push({ name: nameOf(row), from: at, to, row });
    at = to;
  }
  if (others.length > 0) {
    const to = at + others.reduce((sum, row) => sum + row.contribution_ns, 0);
    bars.push({ name: rest(others.length), from: at, to, row: undefined });
  }
  bars.push({ name: "B", from: 0, to: total.b_ns, row: undefined });
  return bars;
}

/** The range that shows what changes in a waterfall: not from 0 if the change is small. */
export function rangeOf(bars: readonly Bar[]): [number, number] {
  const inner = bars.slice(1, -1).flatMap(({ from, to }) => [from, to]);
  const ends = [bars[0]?.to ?? 0, bars.at(-1)?.to ?? 0];
  const [low, high] = [Math.min(...ends, ...inner), Math.max(...ends, ...inner)];
  const margin = (high - low) * 0.25;
  return [low - margin < high * 0.3 ? 0 : low - margin, high + (high - low) * 0.02];
}
