// `outline`: exact totals of a trace that may be larger than memory, and reading windows of it.

import { Outlining, type EngineOutline, type WindowReading } from "../generated/glue/engine.js";
import { window, type Diagnostic, type TilesOptions } from "./answers.js";
import { KinetoscopeError, guarded } from "../base/errors.js";
import * as checks from "../options/checks.js";
import { inputOf, type Platform } from "../reading/open.js";
import type { ReadCounts } from "../options/open.js";
import { OUTLINE_OPTIONS, WINDOW_OPTIONS, type OutlineOptions, type WindowOptions } from "../options/outline.js";
import { EngineObject } from "../engine/object.js";
import type { OutlineRow, OutlineTrack } from "../generated/queries.js";
import { DEFAULT_LIMIT, finishBy, readWith } from "../reading/read.js";
import type { Input } from "../base/source.js";
import { Trace } from "./trace.js";

/** The number of bytes from which they are not read if a window does not need them. To read from another place takes a while. */
const LEAST_SKIP = 4 << 20;

/** The number of totals of each kind while an outline is read. */
const SHOWN = 5;

/** Yields the chunks of a file that a window needs. Each chunk must be fed before the next one is requested. */
async function* needed(
  input: Input,
  reading: WindowReading,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for (let at = 0, skips = true; skips;) {
    skips = false;
    for await (const chunk of input.chunks(at, signal)) {
      at += chunk.length;
      yield chunk;
      const skippable = reading.skippable();
      if (skippable < LEAST_SKIP) continue;
      reading.skip();
      at += skippable;
      skips = true;
      break;
    }
  }
}

/**
 * The outline of a trace: exact totals, and at which times its tracks have events, but no event. It uses memory of the engine until it is
 * disposed of.
 */
export class Outline extends EngineObject<EngineOutline> {
  /** The name of the source. */
  readonly name: string;
  /** The number of events. */
  readonly length: number;
  /** The earliest start and the latest end of the events, in ns from the start of the recording. */
  readonly time: readonly [number, number];
  readonly #input: Input;
  readonly #platform: Platform<never>;

  /** @internal */
  constructor(engine: EngineOutline, input: Input, platform: Platform<never>) {
    super(engine, input.name);
    this.name = input.name;
    this.length = engine.events();
    const [start = 0, end = 0] = engine.time();
    this.time = [start, end];
    this.#input = input;
    this.#platform = platform;
  }

  /** Returns the totals that `kinetoscope outline` prints, at most `limit` of each kind. */
  rows(limit?: number): OutlineRow[] {
    if (limit !== undefined) checks.index("limit", limit);
    return this.withEngine((engine) => engine.rows(limit)) as OutlineRow[];
  }

  /** Returns the document that `kinetoscope outline --format json` prints. */
  json(limit?: number): string {
    if (limit !== undefined) checks.index("limit", limit);
    return this.withEngine((engine) => engine.json(this.name, limit));
  }

  /** Returns the tracks. */
  tracks(): OutlineTrack[] {
    return this.withEngine((engine) => engine.tracks()) as OutlineTrack[];
  }

  /** Returns the diagnostics of reading the file. */
  diagnostics(): Diagnostic[] {
    return this.withEngine((engine) => engine.diagnostics()) as Diagnostic[];
  }

  /**
   * Returns for each pixel the mean number of events of a track that last in it: of a stream, the share of time that it is busy. At most
   * 65536 pixels.
   */
  density(options: TilesOptions): Float32Array {
    const { startNs, endNs, pixels } = window(options);
    const track = checks.index("track", options.track);
    return this.withEngine((engine) => engine.density(track, startNs, endNs, pixels));
  }

  /** Returns about how many events begin between two times, without metadata events. */
  eventsWithin(startNs: number, endNs: number): number {
    checks.period(startNs, endNs);
    return this.withEngine((engine) => engine.events_within(startNs, endNs));
  }

  /**
   * Reads the events that overlap a window, between two times in ns from the start of the recording. Times of the trace count from there as
   * well. The source is read again: of a file that is not compressed, only the parts with events in the window.
   *
   * @throws {KinetoscopeError} if the source cannot be read again (`bad_source`), or as `open`.
   */
  async window(startNs: number, endNs: number, options: WindowOptions = {}): Promise<Trace> {
    checks.period(startNs, endNs);
    const {
      signal,
      onProgress,
      memoryLimit = DEFAULT_LIMIT,
      ...rules
    } = checks.windowOptions(checks.options(options, WINDOW_OPTIONS));
    const input = this.#input;
    if (!input.canRepeat) {
      const error = new KinetoscopeError(
        "bad_source",
        "a window needs a source that can be read twice, such as a file",
      );
      error.source = input.name;
      throw error;
    }
    const reading = this.withEngine((engine) => engine.window(startNs, endNs, memoryLimit));
    const from = { ...input, chunks: () => needed(input, reading, signal) };
    const { engine, bytes } = await readWith(reading, from, this.#platform, { signal, onCounts: onProgress }, () =>
      finishBy(reading, rules),
    );
    return new Trace(engine, input.name, bytes);
  }
}

export interface Outlines<S> {
  /**
   * Reads the outline of a Chrome trace, in memory that does not grow with the events. An array of sources is not taken.
   *
   * @throws {KinetoscopeError} if the source cannot be read or is not a Chrome trace (`unfit`).
   */
  outline(source: S, options?: OutlineOptions): Promise<Outline>;
}

export function createOutlines<S>(platform: Platform<S>): Outlines<S> {
  async function outline(source: S, options: OutlineOptions = {}): Promise<Outline> {
    const { signal, onProgress, threads } = checks.options(options, OUTLINE_OPTIONS);
    if (threads !== undefined) checks.index("threads", threads);
    const input = await inputOf(platform, source, signal);
    const reading = guarded(() => new Outlining());
    let last: ReadCounts | undefined;
    const onCounts = (counts: ReadCounts): void => {
      last = counts;
      onProgress?.({ ...counts, totals: reading.totals(SHOWN) as OutlineRow[] });
    };
    const { engine } = await readWith(reading, input, platform, { signal, threads, onCounts, parses: "totals" }, () =>
      reading.finish(),
    );
    const found = new Outline(engine, input, platform);
    // The last piece of text is counted at the end.
    if (last) onProgress?.({ ...last, events: found.length, totals: found.rows(SHOWN) });
    return found;
  }

  return { outline };
}
