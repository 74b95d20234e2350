// How changes are written.

import { bytes, time } from "../../model/format";
import type { Changed } from "../../model/compare";

const signed = (value: number, show: (size: number) => string): string =>
  value === 0 ? "0" : `${value > 0 ? "+" : "−"}${show(Math.abs(value))}`;

export const signedTime = (ns: number): string => signed(ns, time);

/** The change of a row: of time, or of memory. */
export function changeOf(row: Changed): number {
  return row.kind === "memory" ? row.b_bytes - row.a_bytes : row.contribution_ns;
}

/** The change as text, in the color of its direction if it is more than noise. */
export function Change({ row }: { row: Changed }) {
  const change = changeOf(row);
  const side = change > 0 ? "worse" : "better";
  const text = signed(change, row.kind === "memory" ? bytes : time);
  return <span class={row.significant === false || change === 0 ? "quiet" : side}>{text}</span>;
}
