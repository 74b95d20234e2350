// Tables of a trace as streams of Arrow's IPC format. This entry needs the package `apache-arrow`.

import {
  Bool,
  Data,
  DataType,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  Map_,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Utf8,
  Vector,
  makeData,
} from "apache-arrow";
import type { Buffers, ColumnBuffers, TextBuffers } from "../client/buffers.js";
import { SCHEMA_VERSION, type TableName } from "../generated/tables.js";
import { KinetoscopeError } from "../base/errors.js";
import * as checks from "../options/checks.js";
import type { RemoteTrace } from "../worker/trace.js";
import type { Trace } from "../client/trace.js";

/** Options of `arrow`. */
export interface ArrowOptions {
  /** The names of the columns; by default, all. `run_id` and `rank` are always the first two. */
  columns?: readonly string[] | undefined;
  /** The id of the run: letters, digits, `.`, `_` and `-`. By default, it resembles the name of the trace. */
  runId?: string | undefined;
  /** The rank of a trace that does not state it; by default, 0. */
  rank?: number | undefined;
}

/**
 * Returns a table of a trace as a stream of Arrow's IPC format, with the values that `kinetoscope export arrow` writes. apache-arrow,
 * Arquero, duckdb-wasm and others read it.
 *
 * @throws {KinetoscopeError} if there is no such table or column, or the id of the run has other characters.
 */
export async function arrow(
  trace: Trace | RemoteTrace,
  table: TableName,
  options: ArrowOptions = {},
): Promise<Uint8Array> {
  const { columns, runId = runIdOf(trace.name), rank = 0 } = checks.options(options, ["columns", "runId", "rank"]);
  checks.text("runId", runId);
  if (!/^[\w-][\w.-]*$/.test(runId)) {
    throw new KinetoscopeError("bad_option", `runId: “${runId}” must consist of letters, digits, “.”, “_” and “-”`);
  }
  checks.index("rank", rank);
  const wanted = columns && checks.texts("columns", columns).filter((name) => name !== "run_id" && name !== "rank");
  const buffers = await trace.buffers(table, { columns: wanted });
  // `tableToIPC` leaves out a batch without rows, and with it the dictionaries, which Arquero needs.
  const batch = batchOf(table, buffers, runId, BigInt(buffers.rank ?? rank));
  return RecordBatchStreamWriter.writeAll([batch]).toUint8Array(true);
}

function batchOf(name: TableName, { length, columns }: Buffers, runId: string, rank: bigint): RecordBatch {
  const own: [string, ColumnBuffers][] = [
    ["run_id", { kind: "name", optional: false, present: null, codes: new Uint32Array(length), names: [runId] }],
    ["rank", { kind: "int", optional: false, present: null, values: new BigInt64Array(length).fill(rank) }],
  ];
  const fields: Field[] = [];
  const children: Data[] = [];
  for (const [at, [column, buffers]] of [...own, ...Object.entries(columns)].entries()) {
    const data = dataOf(buffers, length, at);
    fields.push(new Field(column, data.type, buffers.optional));
    children.push(data);
  }
  const metadata = new Map([
    ["kinetoscope.table", name],
    ["kinetoscope.schema_version", String(SCHEMA_VERSION)],
  ]);
  const rows = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return new RecordBatch(new Schema(fields, metadata), rows);
}

/** The id of a dictionary is the number of its column: apache-arrow's own ids differ between calls. */
function dataOf(column: ColumnBuffers, length: number, id: number): Data {
  const nulls = column.present ? { nullBitmap: column.present, nullCount: -1 } : { nullCount: 0 };
  switch (column.kind) {
    case "int":
      return makeData({ type: new Int64(), length, data: column.values, ...nulls });
    case "float":
      return makeData({ type: new Float64(), length, data: column.values, ...nulls });
    case "bool":
      return makeData({ type: new Bool(), length, data: column.values, ...nulls });
    case "name": {
      const dictionary = new Vector([encoded(column.names)]);
      const type = new Dictionary(dictionary.type, new Int32(), id);
      return makeData({ type, length, data: signed(column.codes), dictionary, ...nulls });
    }
    case "text":
      return textsOf(column, length, nulls);
    case "map": {
      const entries = mapEntries(column);
      const type = new Map_(new Field("key_value", entries.type, false)) as unknown as DataType;
      return makeData({ type, length, valueOffsets: column.offsets, child: entries, ...nulls } as never);
    }
  }
}

function textsOf({ offsets, bytes }: TextBuffers, length: number, nulls: object): Data<Utf8> {
  return makeData({ type: new Utf8(), length, valueOffsets: offsets, data: bytes, ...nulls });
}

/** Encodes texts. Builders of apache-arrow generate code, which a content security policy can forbid. */
function encoded(texts: readonly string[]): Data<Utf8> {
  const encoder = new TextEncoder();
  const offsets = new Int32Array(texts.length + 1);
  let bytes = new Uint8Array(1024);
  let length = 0;
  for (const [at, text] of texts.entries()) {
    // A character of a string is at most three bytes.
    if (bytes.length < length + 3 * text.length) bytes = grown(bytes, length + 3 * text.length);
    length += encoder.encodeInto(text, bytes.subarray(length)).written;
    offsets[at + 1] = length;
  }
  return textsOf({ offsets, bytes: bytes.subarray(0, length) }, texts.length, { nullCount: 0 });
}

function grown(bytes: Uint8Array, least: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(least, 2 * bytes.length));
  larger.set(bytes);
  return larger;
}

/** The keys are written out, as `kinetoscope export arrow` does. */
function mapEntries({ codes, names, values }: ColumnBuffers & { kind: "map" }): Data<Struct> {
  const length = codes.length;
  const keys = encoded(Array.from(codes, (code) => names[code] as string));
  const texts = textsOf(values, length, { nullCount: 0 });
  const fields = [new Field("key", new Utf8(), false), new Field("value", new Utf8(), false)];
  return makeData({ type: new Struct(fields), length, nullCount: 0, children: [keys, texts] });
}

const signed = (codes: Uint32Array): Int32Array => new Int32Array(codes.buffer, codes.byteOffset, codes.length);

/** What names of traces end with. */
const ENDINGS = /(\.(gz|zst|json|trace|pt|ktrace|pftrace))+$/;

/** Returns the id of a run that resembles the name of a trace. */
export function runIdOf(name: string): string {
  const stem = name.replace(/^.*[/\\]/, "").replace(ENDINGS, "");
  const id = stem.replace(/[^\w.-]/g, "_").replace(/^\.+/, "");
  return id === "" ? "run" : id;
}
