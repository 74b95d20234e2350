// The tables of the schema as buffers in Arrow's layout.

/** Which columns of a table to return. */
export interface BuffersOptions {
  /** The names of the columns; by default, all. What only other columns need is not computed. */
  columns?: readonly string[] | undefined;
}

/** Texts as UTF-8: text `i` is in the bytes from `offsets[i]` to `offsets[i + 1]`. */
export interface TextBuffers {
  offsets: Int32Array;
  bytes: Uint8Array;
}

/** A column. Values that are absent are 0 or empty in the other buffers. */
export type ColumnBuffers = {
  /** Whether rows can be without a value. */
  optional: boolean;
  /** A bit per row, the lowest of a byte first: whether it has a value. `null` if all have. */
  present: Uint8Array | null;
} & (
  | { kind: "int"; values: BigInt64Array }
  | { kind: "float"; values: Float64Array }
  /** A bit per row, the lowest of a byte first. */
  | { kind: "bool"; values: Uint8Array }
  /** The text of row `i` is `names[codes[i]]`. */
  | { kind: "name"; codes: Uint32Array; names: string[] }
  | ({ kind: "text" } & TextBuffers)
  /** The entries of row `i` are those from `offsets[i]` to `offsets[i + 1]`; their keys are `names[codes[…]]`. */
  | { kind: "map"; offsets: Int32Array; codes: Uint32Array; names: string[]; values: TextBuffers }
);

/** A table. */
export interface Buffers {
  /** The number of rows. */
  length: number;
  /** The rank that the trace states. */
  rank: number | null;
  /** The columns by name, in the order of the schema or of the request. */
  columns: Record<string, ColumnBuffers>;
}
