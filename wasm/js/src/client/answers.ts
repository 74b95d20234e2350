// What a trace of every engine does.

import type { EngineTrace as LiteEngineTrace } from "../generated/glue/lite.js";
import * as checks from "../options/checks.js";
import { METHODS } from "./methods.js";
import { EngineObject } from "../engine/object.js";
import type { DiagnosticCode, Queries, Severity, UnixNs } from "../generated/queries.js";

/** A diagnostic of the file. */
export interface Diagnostic {
  code: DiagnosticCode;
  /** `lost` if data was dropped. */
  severity: Severity;
  count: number;
  /** The byte offset of the first occurrence in the decompressed text. */
  first_offset: number | null;
  example: string;
  description: string;
}

/** The drawn part of a track. */
export interface TilesOptions {
  /** The number of a row of `tracks`. */
  track: number;
  /** The left edge, in ns from the start of the recording. */
  startNs: number;
  endNs: number;
  /** The number of pixels between the edges; at most 65536. */
  pixels: number;
}

/**
 * Boxes to draw; each array has one element per box. A span of at least a pixel has its own box; narrower ones that
 * begin within the same pixel share a box.
 */
export interface Tiles {
  length: number;
  /** The level, 0 for the outermost spans. */
  depth: Uint32Array;
  /** From the start of the recording. */
  start_ns: Float64Array;
  end_ns: Float64Array;
  /** The number of spans in the box. */
  count: Uint32Array;
  /** The index of the event for `event`; of several spans, the longest. */
  event: Uint32Array;
  /** The name of the event, as an index into `names`. */
  name: Uint32Array;
  names: string[];
}

/** A column of strings, as codes into a dictionary; the code 0xffffffff means null. */
export interface TextColumn {
  dictionary: string[];
  codes: Uint32Array;
}

type ColumnOf<T> = [Exclude<T, null>] extends [number]
  ? Float64Array
  : [Exclude<T, null>] extends [UnixNs]
    ? T[]
    : [Exclude<T, null>] extends [string]
      ? TextColumn
      : [Exclude<T, null>] extends [boolean]
        ? Uint8Array
        : T[];

/** The keys of rows; of rows of several kinds, those of all kinds. */
export type KeyOf<Row> = Row extends unknown ? Extract<keyof Row, string> : never;

/** The values of a key in rows of several kinds; null in those that do not have it. */
type ValueOf<Row, Key> = Row extends unknown ? (Key extends keyof Row ? Row[Key] : null) : never;

/**
 * An answer as columns: numbers with NaN for null, booleans with 2 for null, strings as codes, other types as values.
 * Rows of several kinds share one set of columns.
 */
export interface Columns<Row> {
  length: number;
  columns: { [K in KeyOf<Row>]: ColumnOf<ValueOf<Row, K>> };
}

export type QueryName = keyof Queries;

/** The checked edges of a drawn part. */
export function window(options: Omit<TilesOptions, "track">): Omit<TilesOptions, "track"> {
  const { startNs, endNs, pixels } = checks.options(options);
  checks.period(startNs, endNs);
  return { startNs, endNs, pixels: checks.pixels(pixels) };
}

/** Separates the number of rows to leave out from the options of a query. The engine counts the limit from the first row. */
export function splitOffset(options: unknown): [unknown, number] {
  if (typeof options !== "object" || options === null || !("offset" in options)) return [options, 0];
  const { offset = 0, ...others } = options as { offset?: unknown; rowLimit?: unknown };
  const skipped = checks.index("offset", offset);
  const { rowLimit } = others;
  if (typeof rowLimit === "number" && rowLimit > 0) others.rowLimit = rowLimit + skipped;
  return [others, skipped];
}

/** A trace of an engine `E`, which answers the queries `Q`. It uses memory of the engine until it is disposed of. */
export class AnsweringTrace<E extends LiteEngineTrace, Q extends QueryName> extends EngineObject<E> {
  /** The name of the source. */
  readonly name: string;
  /** The Unix time of the start of the recording in ns; all times are relative to it. */
  readonly startNs: bigint;
  /** The number of events. */
  readonly length: number;

  /** @internal */
  constructor(engine: E, name: string) {
    super(engine, name);
    this.name = name;
    this.startNs = engine.start();
    this.length = engine.events();
  }

  #answer<T>(query: Q, options: unknown, call: (engine: E, options: unknown, offset: number) => T): T {
    checks.text("query", query);
    const [others, offset] = splitOffset(options);
    return this.withEngine((engine) => call(engine, others, offset));
  }

  /** Returns the rows of a query. Each query also has a method of the same name in camel case; that of `check` is `dataQuality`. */
  rows<V extends Q>(query: V, options?: Queries[V]["options"]): Queries[V]["row"][] {
    return this.#answer(query, options, (engine, ...rest) =>
      engine.rows(this.name, query, ...rest),
    ) as Queries[V]["row"][];
  }

  /** Returns the answer as columns of typed arrays, whose buffers can be transferred. */
  columns<V extends Q>(query: V, options?: Queries[V]["options"]): Columns<Queries[V]["row"]> {
    const columns: unknown = this.#answer(query, options, (engine, ...rest) =>
      engine.columns(this.name, query, ...rest),
    );
    return columns as Columns<Queries[V]["row"]>;
  }

  /** Returns the text that the command line prints; for `ops`, PyTorch's table. */
  table<V extends Q>(query: V, options?: Queries[V]["options"]): string {
    checks.text("query", query);
    return this.withEngine((engine) => engine.table(this.name, query, options));
  }

  /** Returns the document that the command line prints with `--format json`. */
  json<V extends Q>(query: V, options?: Queries[V]["options"]): string {
    return this.#answer(query, options, (engine, ...rest) => engine.json(this.name, query, ...rest));
  }

  /** Returns the answer as CSV. */
  csv<V extends Q>(query: V, options?: Queries[V]["options"]): string {
    return this.#answer(query, options, (engine, ...rest) => engine.csv(this.name, query, ...rest));
  }

  /** Returns the answer as a Markdown table. */
  markdown<V extends Q>(query: V, options?: Queries[V]["options"]): string {
    return this.#answer(query, options, (engine, ...rest) => engine.markdown(this.name, query, ...rest));
  }

  /** Returns the diagnostics of reading the file. */
  diagnostics(): Diagnostic[] {
    return this.withEngine((engine) => engine.diagnostics()) as Diagnostic[];
  }

  /** Returns the boxes of a track between two times. */
  tiles(options: TilesOptions): Tiles {
    const { startNs, endNs, pixels } = window(options);
    const track = checks.index("track", options.track);
    return this.withEngine((engine) => engine.tiles(track, startNs, endNs, pixels)) as Tiles;
  }
}

/** Adds a method for each of these queries to a class of traces. */
export function addMethods(to: { prototype: object }, queries: readonly QueryName[]): void {
  for (const { name, query, isOneRow } of METHODS) {
    if (!queries.includes(query)) continue;
    const method = function (this: AnsweringTrace<LiteEngineTrace, QueryName>, options?: object): unknown {
      const rows = this.rows(query, options);
      return isOneRow ? rows[0] : rows;
    };
    Object.defineProperty(to.prototype, name, { value: method, configurable: true, writable: true });
  }
}
