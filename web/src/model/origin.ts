// Where one activity of a device comes from: its operator, its source, and what shows them.

import type { Buffers, ColumnBuffers, SourceBy } from "kinetoscope/remote";

/** The columns of the table `kernels` that an origin is read from. */
export const ORIGIN_COLUMNS = [
  "event",
  "operator",
  "operator_source",
  "source",
  "source_by",
  "annotation",
] as const satisfies readonly string[];

/** What shows the operator. */
export type OperatorBy = "launch" | "capture" | "kernel_name";

export interface Origin {
  operator: string | null;
  operatorBy: OperatorBy | null;
  source: string | null;
  sourceBy: SourceBy | null;
  annotation: string | null;
}

function textAt(column: ColumnBuffers | undefined, row: number): string | null {
  if (!column || (column.present && (((column.present[row >> 3] as number) >> (row & 7)) & 1) === 0)) return null;
  if (column.kind === "name") return column.names[column.codes[row] as number] ?? null;
  if (column.kind !== "text") return null;
  return new TextDecoder().decode(column.bytes.subarray(column.offsets[row], column.offsets[row + 1]));
}

/** Returns where an activity comes from; undefined if the event is not one. */
export function originOf({ columns }: Pick<Buffers, "columns">, event: number): Origin | undefined {
  const events = columns["event"];
  const row = events?.kind === "int" ? events.values.indexOf(BigInt(event)) : -1;
  if (row < 0) return undefined;
  const text = (key: (typeof ORIGIN_COLUMNS)[number]): string | null => textAt(columns[key], row);
  return {
    operator: text("operator"),
    operatorBy: text("operator_source") as OperatorBy | null,
    source: text("source"),
    sourceBy: text("source_by") as SourceBy | null,
    annotation: text("annotation"),
  };
}
