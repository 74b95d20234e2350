// A trace of the complete engine.

import type { EngineAnswer, EngineTrace, EngineWriting } from "../generated/glue/engine.js";
import { AnsweringTrace, addMethods, splitOffset, window, type QueryName } from "./answers.js";
import { guarded } from "../base/errors.js";
import { exact } from "../base/exact.js";
import * as checks from "../options/checks.js";
import type { Buffers, BuffersOptions } from "./buffers.js";
import type { TableName } from "../generated/tables.js";
import type { RankSummaryOptions } from "../options/run.js";
import { QUERIES, type Answers, type Exports, type Relation, type Queries } from "../generated/queries.js";

export type { Columns, Diagnostic, TextColumn, Tiles, TilesOptions } from "./answers.js";
export type { Buffers, BuffersOptions, ColumnBuffers, TextBuffers } from "./buffers.js";

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

/** An event in the Chrome trace format. An integer that a number cannot represent is the text of its digits. */
export type ChromeEvent = Record<string, unknown>;

type ExportName = keyof Exports;

/** Options of `stream`, in addition to those of the query. */
export interface StreamOptions {
  /** By default `json`. */
  format?: "json" | "csv" | undefined;
}

/** A trace. It uses memory of the engine until it is disposed of. */
export class Trace extends AnsweringTrace<EngineTrace, QueryName> {
  /** The size of the file. */
  #bytes: number;

  /** @internal */
  constructor(engine: EngineTrace, name: string, bytes: number) {
    super(engine, name);
    this.#bytes = bytes;
  }

  /** Returns all spans with these names, in time order. */
  find(names: readonly string[], options: { deviceWorkOnly?: boolean | undefined } = {}): Spans {
    const wanted = checks.texts("names", names);
    const { deviceWorkOnly = false } = checks.options(options, ["deviceWorkOnly"]);
    return this.withEngine((engine) => engine.find(wanted, deviceWorkOnly)) as Spans;
  }

  /**
   * Returns the events of a row of `ops`; `row` is its position in the unsorted and unfiltered rows with this grouping.
   */
  instances(row: number, options: Pick<Queries["ops"]["options"], "groupBy"> = {}): Spans {
    const number = checks.index("row", row);
    return this.withEngine((engine) => engine.instances(number, options)) as Spans;
  }

  /** Returns an event with its ancestors, launch, operator, launched work, forward, backward and flows. */
  related(event: number): Related {
    const number = checks.index("event", event);
    return this.withEngine((engine) => engine.related(number)) as Related;
  }

  /** Returns the values of a counter between two times. */
  curve(options: CurveOptions): Curve {
    const { startNs, endNs, pixels } = window(options);
    const counter = checks.index("counter", options.counter);
    return this.withEngine((engine) => engine.curve(counter, startNs, endNs, pixels)) as Curve;
  }

  /** Returns an event with all its arguments. */
  event(index: number): ChromeEvent {
    const number = checks.index("event", index);
    return exact(this.withEngine((engine) => engine.event(number))) as ChromeEvent;
  }

  /** Returns the summary of the trace as the bytes of a file (`.ksum`), for `openRun` and `kinetoscope ranks`. */
  rankSummary(options: RankSummaryOptions = {}): Uint8Array {
    const { name = this.name, complete } = checks.options(options, ["name", "complete"]);
    checks.text("name", name);
    return this.withEngine((engine) => engine.summarize(name, complete ? undefined : this.#bytes));
  }

  /** Returns what a comparison uses of the trace as bytes, which `diff` takes instead of the trace. */
  profile(): Uint8Array {
    return this.withEngine((engine) => engine.profile(this.name));
  }

  /**
   * Returns a table of the schema, or some of its columns, as buffers in Arrow's layout. `kinetoscope/columns` describes the
   * tables, and `kinetoscope/arrow` writes them to a stream of Arrow's IPC format.
   */
  buffers(table: TableName, options: BuffersOptions = {}): Buffers {
    checks.text("table", table);
    const { columns } = checks.options(options, ["columns"]);
    const wanted = columns && checks.texts("columns", columns);
    return this.withEngine((engine) => engine.buffers(table, wanted)) as Buffers;
  }

  /**
   * Returns the document that `json` returns, or the text of `csv`, as UTF-8 bytes: of any length, while a string has at most 512 MB. The
   * rows are computed at once, and freed while they are written.
   */
  stream<V extends QueryName>(
    query: V,
    options: Queries[V]["options"] & StreamOptions = {},
  ): ReadableStream<Uint8Array> {
    checks.text("query", query);
    const { format = "json", ...others } = checks.options<StreamOptions>(options);
    const [own, offset] = splitOffset(others);
    checks.text("format", format);
    return written(this.withEngine((engine) => engine.stream(this.name, query, own, offset, format)));
  }

  /** Returns the trace in another format as UTF-8 bytes; `new Response(stream)` converts them to a string or a blob. */
  export<E extends ExportName>(name: E, options?: Exports[E]): ReadableStream<Uint8Array> {
    checks.text("export", name);
    const salt = crypto.getRandomValues(new Uint8Array(32));
    return written(this.withEngine((engine) => engine.export(name, options, salt)));
  }
}

/** Returns what the engine writes. */
function written(writing: EngineWriting | EngineAnswer): ReadableStream<Uint8Array> {
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

export interface Trace extends Answers {}

addMethods(Trace, Object.keys(QUERIES) as QueryName[]);
