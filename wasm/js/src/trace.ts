// A trace, and every question to it.

import type { EngineTrace, EngineWriting } from "./glue/engine.js";
import { KinetoscopeError, guarded } from "./errors.js";
import {
  EXPORTS,
  QUERIES,
  type Answers,
  type DiagnosticCode,
  type Exports,
  type Relation,
  type Severity,
  type Queries,
} from "./queries.js";

/** One diagnostic of the file. */
export interface Diagnostic {
  code: DiagnosticCode;
  /** `lost` when something was dropped. */
  severity: Severity;
  count: number;
  /** Where it was first met: a byte of the decompressed text. */
  first_offset: number | null;
  example: string;
  description: string;
}

/** What part of a track is drawn. */
export interface TilesOptions {
  /** The number of a row of `tracks`. */
  track: number;
  /** The left edge, in ns after the start of the recording. */
  startNs: number;
  endNs: number;
  /** How many pixels lie between the two. */
  pixels: number;
}

/**
 * Boxes to draw, one element of each array a box. A span of at least a pixel has a box of its own; narrower ones that
 * begin within one pixel share one.
 */
export interface Tiles {
  length: number;
  /** The level, 0 for the outermost spans. */
  depth: Uint32Array;
  /** After the start of the recording. */
  start_ns: Float64Array;
  end_ns: Float64Array;
  /** How many spans the box stands for. */
  count: Uint32Array;
  /** The event, which `event` takes; of several, the longest. */
  event: Uint32Array;
  /** Its name, as an index into `names`. */
  name: Uint32Array;
  names: string[];
}

/** Spans with their place on the timeline, one element of each array a span. */
export interface Spans {
  length: number;
  /** The event, which `event` takes. */
  event: Uint32Array;
  /** The number of a row of `tracks`. */
  track: Uint32Array;
  /** The level on the track, as in `Tiles`. */
  depth: Uint32Array;
  /** After the start of the recording. */
  start_ns: Float64Array;
  end_ns: Float64Array;
  /** The name, as an index into `names`. */
  name: Uint32Array;
  names: string[];
}

/** An event and what it is linked to; ancestors come innermost first. */
export interface Related extends Spans {
  /** How each span is linked to the event; `self` for the event. */
  relation: Relation[];
}

/** Which part of a counter is drawn. */
export interface CurveOptions {
  /** The number of a row of `counters`. */
  counter: number;
  /** The left edge, in ns after the start of the recording. */
  startNs: number;
  endNs: number;
  /** How many pixels lie between the two; at most 65536. */
  pixels: number;
}

/** A counter's values, one element of each array a pixel; NaN where there is none yet. */
export interface Curve {
  length: number;
  low: Float64Array;
  high: Float64Array;
  /** By time: each value weighted by how long it holds. */
  mean: Float64Array;
}

/** A column of texts; the code 0xffffffff stands for none. */
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
 * An answer as columns: numbers with NaN for none, booleans with 2 for none, texts as codes, the rest as values. Rows of
 * several kinds have one set of columns.
 */
export interface Columns<Row> {
  length: number;
  columns: { [K in Extract<keyof Row, string>]: ColumnOf<Row[K]> };
}

/** An event as a Chrome trace has it. */
export type ChromeEvent = Record<string, unknown>;

type QueryName = keyof Queries;
type ExportName = keyof Exports;

const leaked = new FinalizationRegistry<EngineTrace>((engine) => engine.free());

/** A trace that was read. It holds memory of the engine until it is disposed of. */
export class Trace {
  #engine: EngineTrace | undefined;
  /** What the trace is called. */
  readonly name: string;
  /** The Unix time of the start of the recording, in ns, from which all times are counted. */
  readonly startNs: bigint;
  /** How many events it has. */
  readonly length: number;

  /** @internal */
  constructor(engine: EngineTrace, name: string) {
    this.#engine = engine;
    this.name = name;
    this.startNs = engine.start();
    this.length = engine.events();
    leaked.register(this, engine, this);
  }

  #ask<T>(call: (engine: EngineTrace) => T): T {
    const engine = this.#engine;
    if (!engine) throw new KinetoscopeError("disposed", `${this.name} was disposed of`);
    return guarded(() => call(engine));
  }

  /** The rows of an analysis by its name; the methods of the same names are shorter to write. */
  rows<V extends QueryName>(query: V, options?: Queries[V]["options"]): Queries[V]["row"][] {
    return this.#ask((engine) => engine.rows(query, options)) as Queries[V]["row"][];
  }

  /** The same as columns of typed arrays, whose buffers can be transferred. */
  columns<V extends QueryName>(query: V, options?: Queries[V]["options"]): Columns<Queries[V]["row"]> {
    return this.#ask((engine) => engine.columns(query, options)) as unknown as Columns<Queries[V]["row"]>;
  }

  /** The text that the command line prints; for `ops`, torch's table. */
  table<V extends QueryName>(query: V, options?: Queries[V]["options"]): string {
    return this.#ask((engine) => engine.table(this.name, query, options));
  }

  /** The document that the command line prints with `--format json`. */
  json<V extends QueryName>(query: V, options?: Queries[V]["options"]): string {
    return this.#ask((engine) => engine.json(this.name, query, options));
  }

  /** The same as CSV. */
  csv<V extends QueryName>(query: V, options?: Queries[V]["options"]): string {
    return this.#ask((engine) => engine.csv(query, options));
  }

  /** The same as a Markdown table. */
  markdown<V extends QueryName>(query: V, options?: Queries[V]["options"]): string {
    return this.#ask((engine) => engine.markdown(query, options));
  }

  /** Everything that was odd about the file. */
  diagnostics(): Diagnostic[] {
    return this.#ask((engine) => engine.diagnostics()) as Diagnostic[];
  }

  /** What a timeline draws of one track between two times. */
  tiles(options: TilesOptions): Tiles {
    const { track, startNs, endNs, pixels } = options;
    return this.#ask((engine) => engine.tiles(track, startNs, endNs, pixels)) as Tiles;
  }

  /** Every span of these names, in the order of time. */
  find(names: readonly string[], options: { deviceWorkOnly?: boolean | undefined } = {}): Spans {
    return this.#ask((engine) => engine.find([...names], options.deviceWorkOnly ?? false)) as Spans;
  }

  /** The events of a row of `ops`: its position when the rows are asked for unsorted, unfiltered and grouped like this. */
  instances(row: number, options: Pick<Queries["ops"]["options"], "groupBy"> = {}): Spans {
    return this.#ask((engine) => engine.instances(row, options)) as Spans;
  }

  /** An event's place, what is open around it, what launched it, what it launched, its forward and backward. */
  related(event: number): Related {
    return this.#ask((engine) => engine.related(event)) as Related;
  }

  /** A counter between two times. */
  curve(options: CurveOptions): Curve {
    const { counter, startNs, endNs, pixels } = options;
    return this.#ask((engine) => engine.curve(counter, startNs, endNs, pixels)) as Curve;
  }

  /** One event with all its arguments. */
  event(index: number): ChromeEvent {
    return JSON.parse(this.#ask((engine) => engine.event(index))) as ChromeEvent;
  }

  /** The trace in another form, as UTF-8 bytes; `new Response(stream)` makes a text or a blob of them. */
  export<E extends ExportName>(name: E, options?: Exports[E]): ReadableStream<Uint8Array> {
    const salt = crypto.getRandomValues(new Uint8Array(32));
    const writing: EngineWriting = this.#ask((engine) => engine.export(name, options, salt));
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

  /** Gives the memory back. An export that has begun goes on. */
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

for (const [query, isOneRow] of Object.entries(QUERIES) as [QueryName, boolean][]) {
  const method = function (this: Trace, options?: object): unknown {
    const rows = this.rows(query, options);
    return isOneRow ? rows[0] : rows;
  };
  Object.defineProperty(Trace.prototype, query, { value: method, configurable: true, writable: true });
}

/** The media type of an export. */
export function mediaType(name: ExportName): string {
  return EXPORTS[name];
}
