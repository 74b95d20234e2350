// A trace and its queries.

import type { EngineTrace, EngineWriting } from "./glue/engine.js";
import { KinetoscopeError, guarded } from "./errors.js";
import * as given from "./given.js";
import { METHODS } from "./methods.js";
import type { SummaryOptions } from "./run-options.js";
import {
  EXPORTS,
  type Answers,
  type DiagnosticCode,
  type Exports,
  type Relation,
  type Severity,
  type Queries,
} from "./queries.js";

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
  /** The number of pixels between the edges. */
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

/** Spans with their positions on the timeline; each array has one element per span. */
export interface Spans {
  length: number;
  /** The index of the event for `event`. */
  event: Uint32Array;
  /** The number of a row of `tracks`. */
  track: Uint32Array;
  /** The level on the track, as in `Tiles`. */
  depth: Uint32Array;
  /** From the start of the recording. */
  start_ns: Float64Array;
  end_ns: Float64Array;
  /** The name, as an index into `names`. */
  name: Uint32Array;
  names: string[];
}

/** An event and its related spans; the innermost ancestors come first. */
export interface Related extends Spans {
  /** The relation of each span to the event; `self` for the event itself. */
  relation: Relation[];
}

/** The drawn part of a counter. */
export interface CurveOptions {
  /** The number of a row of `counters`. */
  counter: number;
  /** The left edge, in ns from the start of the recording. */
  startNs: number;
  endNs: number;
  /** The number of pixels between the edges; at most 65536. */
  pixels: number;
}

/** The values of a counter; each array has one element per pixel, NaN before the first value. */
export interface Curve {
  length: number;
  low: Float64Array;
  high: Float64Array;
  /** The mean over time: values are weighted by their durations. */
  mean: Float64Array;
}

/** A column of strings, as codes into a dictionary; the code 0xffffffff means null. */
export interface TextColumn {
  dictionary: string[];
  codes: Uint32Array;
}

type ColumnOf<T> = [Exclude<T, null>] extends [number]
  ? Float64Array
  : [Exclude<T, null>] extends [string]
    ? TextColumn
    : [Exclude<T, null>] extends [boolean]
      ? Uint8Array
      : T[];

/**
 * An answer as columns: numbers with NaN for null, booleans with 2 for null, strings as codes, other types as values.
 * Rows of several kinds share one set of columns.
 */
export interface Columns<Row> {
  length: number;
  columns: { [K in Extract<keyof Row, string>]: ColumnOf<Row[K]> };
}

/** An event in the Chrome trace format. */
export type ChromeEvent = Record<string, unknown>;

type QueryName = keyof Queries;
type ExportName = keyof Exports;

/** The checked edges of a drawn part. */
function window(options: Omit<TilesOptions, "track">): Omit<TilesOptions, "track"> {
  const { startNs, endNs, pixels } = given.options(options);
  return {
    startNs: given.time("startNs", startNs),
    endNs: given.time("endNs", endNs),
    pixels: given.index("pixels", pixels),
  };
}

const leaked = new FinalizationRegistry<EngineTrace>((engine) => engine.free());

/** A trace. It uses memory of the engine until it is disposed of. */
export class Trace {
  #engine: EngineTrace | undefined;
  /** The size of the file. */
  #bytes: number;
  /** The name of the source. */
  readonly name: string;
  /** The Unix time of the start of the recording in ns; all times are relative to it. */
  readonly startNs: bigint;
  /** The number of events. */
  readonly length: number;

  /** @internal */
  constructor(engine: EngineTrace, name: string, bytes: number) {
    this.#engine = engine;
    this.#bytes = bytes;
    this.name = name;
    this.startNs = engine.start();
    this.length = engine.events();
    leaked.register(this, engine, this);
  }

  #withEngine<T>(call: (engine: EngineTrace) => T): T {
    const engine = this.#engine;
    if (!engine) throw new KinetoscopeError("disposed", `${this.name} was disposed of`);
    return guarded(() => call(engine));
  }

  #answer<T>(query: QueryName, call: (engine: EngineTrace) => T): T {
    given.text("query", query);
    return this.#withEngine(call);
  }

  /** Returns the rows of a query. Each query also has a method of the same name in camel case. */
  rows<V extends QueryName>(query: V, options?: Queries[V]["options"]): Queries[V]["row"][] {
    return this.#answer(query, (engine) => engine.rows(this.name, query, options)) as Queries[V]["row"][];
  }

  /** Returns the answer as columns of typed arrays, whose buffers can be transferred. */
  columns<V extends QueryName>(query: V, options?: Queries[V]["options"]): Columns<Queries[V]["row"]> {
    return this.#answer(query, (engine) => engine.columns(this.name, query, options)) as unknown as Columns<
      Queries[V]["row"]
    >;
  }

  /** Returns the text that the command line prints; for `ops`, PyTorch's table. */
  table<V extends QueryName>(query: V, options?: Queries[V]["options"]): string {
    return this.#answer(query, (engine) => engine.table(this.name, query, options));
  }

  /** Returns the document that the command line prints with `--format json`. */
  json<V extends QueryName>(query: V, options?: Queries[V]["options"]): string {
    return this.#answer(query, (engine) => engine.json(this.name, query, options));
  }

  /** Returns the answer as CSV. */
  csv<V extends QueryName>(query: V, options?: Queries[V]["options"]): string {
    return this.#answer(query, (engine) => engine.csv(this.name, query, options));
  }

  /** Returns the answer as a Markdown table. */
  markdown<V extends QueryName>(query: V, options?: Queries[V]["options"]): string {
    return this.#answer(query, (engine) => engine.markdown(this.name, query, options));
  }

  /** Returns the diagnostics of reading the file. */
  diagnostics(): Diagnostic[] {
    return this.#withEngine((engine) => engine.diagnostics()) as Diagnostic[];
  }

  /** Returns the boxes of a track between two times. */
  tiles(options: TilesOptions): Tiles {
    const { startNs, endNs, pixels } = window(options);
    const track = given.index("track", options.track);
    return this.#withEngine((engine) => engine.tiles(track, startNs, endNs, pixels)) as Tiles;
  }

  /** Returns all spans with these names, in time order. */
  find(names: readonly string[], options: { deviceWorkOnly?: boolean | undefined } = {}): Spans {
    const wanted = given.texts("names", names);
    const { deviceWorkOnly = false } = given.options(options, ["deviceWorkOnly"]);
    return this.#withEngine((engine) => engine.find(wanted, deviceWorkOnly)) as Spans;
  }

  /**
   * Returns the events of a row of `ops`; `row` is its position in the unsorted and unfiltered rows with this grouping.
   */
  instances(row: number, options: Pick<Queries["ops"]["options"], "groupBy"> = {}): Spans {
    const number = given.index("row", row);
    return this.#withEngine((engine) => engine.instances(number, options)) as Spans;
  }

  /** Returns an event with its ancestors, launch, operator, launched work, forward, backward and flows. */
  related(event: number): Related {
    const number = given.index("event", event);
    return this.#withEngine((engine) => engine.related(number)) as Related;
  }

  /** Returns the values of a counter between two times. */
  curve(options: CurveOptions): Curve {
    const { startNs, endNs, pixels } = window(options);
    const counter = given.index("counter", options.counter);
    return this.#withEngine((engine) => engine.curve(counter, startNs, endNs, pixels)) as Curve;
  }

  /** Returns an event with all its arguments. */
  event(index: number): ChromeEvent {
    const number = given.index("event", index);
    return JSON.parse(this.#withEngine((engine) => engine.event(number))) as ChromeEvent;
  }

  /** Returns the summary of the trace as the bytes of a file (`.ksum`), for `openRun` and `kinetoscope ranks`. */
  summarize(options: SummaryOptions = {}): Uint8Array {
    const { name = this.name, complete } = given.options(options, ["name", "complete"]);
    given.text("name", name);
    return this.#withEngine((engine) => engine.summarize(name, complete ? undefined : this.#bytes));
  }

  /** Returns what a comparison uses of the trace as bytes, which `diff` takes instead of the trace. */
  profile(): Uint8Array {
    return this.#withEngine((engine) => engine.profile(this.name));
  }

  /** Returns the trace in another format as UTF-8 bytes; `new Response(stream)` converts them to a string or a blob. */
  export<E extends ExportName>(name: E, options?: Exports[E]): ReadableStream<Uint8Array> {
    given.text("export", name);
    const salt = crypto.getRandomValues(new Uint8Array(32));
    const writing: EngineWriting = this.#withEngine((engine) => engine.export(name, options, salt));
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = guarded(() => writing.next());
        if (piece) return controller.enqueue(piece);
        writing.free();
        controller.close();
      },
      cancel() {
        writing.free();
      },
    });
  }

  /** Frees the trace. An export that has begun continues. */
  dispose(): void {
    leaked.unregister(this);
    this.#engine?.free();
    this.#engine = undefined;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

export interface Trace extends Answers {}

for (const { name, query, isOneRow } of METHODS) {
  const method = function (this: Trace, options?: object): unknown {
    const rows = this.rows(query, options);
    return isOneRow ? rows[0] : rows;
  };
  Object.defineProperty(Trace.prototype, name, { value: method, configurable: true, writable: true });
}

/** Returns the media type of an export. */
export function mediaType(name: ExportName): string {
  return EXPORTS[name];
}
