// A trace that a worker holds.

import type { Connection } from "./connection.js";
import { WorkerObject, splitSignal, type Abortable } from "./object.js";
import { METHODS } from "../client/methods.js";
import type { Opened } from "./protocol.js";
import type { Answers, Exports, Queries } from "../generated/queries.js";
import type { RankSummaryOptions } from "../options/run.js";
import type { TableName } from "../generated/tables.js";
import type {
  Buffers,
  BuffersOptions,
  ChromeEvent,
  Columns,
  Curve,
  CurveOptions,
  Diagnostic,
  Related,
  Spans,
  StreamOptions,
  Tiles,
  TilesOptions,
} from "../client/trace.js";

/** The queries, as promises. */
export type RemoteAnswers = {
  [V in keyof Answers]: (options?: Parameters<Answers[V]>[0] & Abortable) => Promise<ReturnType<Answers[V]>>;
};

/** A trace that a worker holds: a `Trace` whose methods return promises. */
export class RemoteTrace extends WorkerObject {
  readonly name: string;
  /** The Unix time of the start of the recording in ns; all times are relative to it. */
  readonly startNs: bigint;
  readonly length: number;

  /** @internal */
  constructor(connection: Connection, opened: Opened) {
    super(connection, opened.trace, opened.name);
    this.name = opened.name;
    this.startNs = opened.startNs;
    this.length = opened.length;
  }

  rows<V extends keyof Queries>(query: V, options?: Queries[V]["options"] & Abortable): Promise<Queries[V]["row"][]> {
    return this.ask("rows", query, options);
  }

  columns<V extends keyof Queries>(
    query: V,
    options?: Queries[V]["options"] & Abortable,
  ): Promise<Columns<Queries[V]["row"]>> {
    return this.ask("columns", query, options);
  }

  table<V extends keyof Queries>(query: V, options?: Queries[V]["options"] & Abortable): Promise<string> {
    return this.ask("table", query, options);
  }

  json<V extends keyof Queries>(query: V, options?: Queries[V]["options"] & Abortable): Promise<string> {
    return this.ask("json", query, options);
  }

  csv<V extends keyof Queries>(query: V, options?: Queries[V]["options"] & Abortable): Promise<string> {
    return this.ask("csv", query, options);
  }

  markdown<V extends keyof Queries>(query: V, options?: Queries[V]["options"] & Abortable): Promise<string> {
    return this.ask("markdown", query, options);
  }

  diagnostics(options?: Abortable): Promise<Diagnostic[]> {
    return this.ask("diagnostics", options);
  }

  tiles(options: TilesOptions & Abortable): Promise<Tiles> {
    return this.ask("tiles", options);
  }

  find(names: readonly string[], options?: { deviceWorkOnly?: boolean | undefined } & Abortable): Promise<Spans> {
    return this.ask("find", names, options);
  }

  instances(row: number, options?: Pick<Queries["ops"]["options"], "groupBy"> & Abortable): Promise<Spans> {
    return this.ask("instances", row, options);
  }

  related(event: number, options?: Abortable): Promise<Related> {
    return this.ask("related", event, options);
  }

  curve(options: CurveOptions & Abortable): Promise<Curve> {
    return this.ask("curve", options);
  }

  event(index: number, options?: Abortable): Promise<ChromeEvent> {
    return this.ask("event", index, options);
  }

  rankSummary(options?: RankSummaryOptions & Abortable): Promise<Uint8Array> {
    return this.ask("rankSummary", options);
  }

  profile(options?: Abortable): Promise<Uint8Array> {
    return this.ask("profile", options);
  }

  buffers(table: TableName, options?: BuffersOptions & Abortable): Promise<Buffers> {
    return this.ask("buffers", table, options);
  }

  /** Works like `stream` of a `Trace`; an invalid option and the signal error the stream. */
  stream<V extends keyof Queries>(
    query: V,
    options: Queries[V]["options"] & StreamOptions & Abortable = {},
  ): ReadableStream<Uint8Array> {
    const [others, signal] = splitSignal(options);
    return this.written((held) => ({ do: "stream", held, query, options: others as object }), signal);
  }

  /** Returns the trace in another format; an invalid option and the signal error the stream. */
  export<E extends keyof Exports>(name: E, options?: Exports[E] & Abortable): ReadableStream<Uint8Array> {
    const [others, signal] = splitSignal(options);
    return this.written((held) => ({ do: "export", held, name, options: others as object }), signal);
  }
}

export interface RemoteTrace extends RemoteAnswers {}

for (const { name, query, isOneRow } of METHODS) {
  const method = async function (this: RemoteTrace, options?: object): Promise<unknown> {
    const rows = await this.rows(query, options);
    return isOneRow ? rows[0] : rows;
  };
  Object.defineProperty(RemoteTrace.prototype, name, { value: method, configurable: true, writable: true });
}
