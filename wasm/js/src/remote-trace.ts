// A trace that a worker holds.

import type { Connection } from "./connection.js";
import { Held } from "./held.js";
import { METHODS } from "./methods.js";
import type { Method, Opened } from "./protocol.js";
import type { Answers, Exports, Queries } from "./queries.js";
import type { SummaryOptions } from "./run-options.js";
import type { TableName } from "./tables.js";
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
  Tiles,
  TilesOptions,
} from "./trace.js";

/** The queries, as promises. */
export type RemoteAnswers = {
  [V in keyof Answers]: (...options: Parameters<Answers[V]>) => Promise<ReturnType<Answers[V]>>;
};

/** A trace that a worker holds: a `Trace` whose methods return promises. */
export class RemoteTrace extends Held {
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

  #call<T>(method: Method, ...given: unknown[]): Promise<T> {
    return this.send((trace) => ({ do: "call", trace, method, arguments: given }));
  }

  rows<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<Queries[V]["row"][]> {
    return this.#call("rows", query, options);
  }

  columns<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<Columns<Queries[V]["row"]>> {
    return this.#call("columns", query, options);
  }

  table<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<string> {
    return this.#call("table", query, options);
  }

  json<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<string> {
    return this.#call("json", query, options);
  }

  csv<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<string> {
    return this.#call("csv", query, options);
  }

  markdown<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<string> {
    return this.#call("markdown", query, options);
  }

  diagnostics(): Promise<Diagnostic[]> {
    return this.#call("diagnostics");
  }

  tiles(options: TilesOptions): Promise<Tiles> {
    return this.#call("tiles", options);
  }

  find(names: readonly string[], options?: { deviceWorkOnly?: boolean | undefined }): Promise<Spans> {
    return this.#call("find", names, options);
  }

  instances(row: number, options?: Pick<Queries["ops"]["options"], "groupBy">): Promise<Spans> {
    return this.#call("instances", row, options);
  }

  related(event: number): Promise<Related> {
    return this.#call("related", event);
  }

  curve(options: CurveOptions): Promise<Curve> {
    return this.#call("curve", options);
  }

  event(index: number): Promise<ChromeEvent> {
    return this.#call("event", index);
  }

  summarize(options?: SummaryOptions): Promise<Uint8Array> {
    return this.#call("summarize", options);
  }

  profile(): Promise<Uint8Array> {
    return this.#call("profile");
  }

  buffers(table: TableName, options?: BuffersOptions): Promise<Buffers> {
    return this.#call("buffers", table, options);
  }

  /** Returns the trace in another format; an invalid option errors the stream. */
  export<E extends keyof Exports>(name: E, options?: Exports[E]): ReadableStream<Uint8Array> {
    return this.stream((trace) => ({ do: "export", trace, name, options }));
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
