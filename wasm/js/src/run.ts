// The ranks of a run, and its answers.

import type { EngineRun } from "./glue/engine.js";
import { KinetoscopeError, guarded } from "./errors.js";
import * as given from "./given.js";
import type { OpenOptions } from "./read.js";
import type { RanksKind, RanksNoteRow, RanksOptions, RanksRow } from "./queries.js";
import type { Columns } from "./trace.js";

/** The state of reading a run. */
export interface RunProgress {
  /** The number of sources that were read, with those that could not be read. */
  done: number;
  /** The number of sources. */
  total: number;
  /** Bytes of all sources that were read, before decompression. */
  bytes: number;
  /** Events of all sources that were read. */
  events: number;
}

/** A note about a file that the caller left out. */
export interface SourceNote {
  /** `skipped` if it is a file of another kind. */
  code: "skipped" | "unreadable";
  /** A sentence without a period, which names the file. */
  message: string;
}

/** Options of `openRun`. */
export interface RunOptions extends Pick<OpenOptions, "signal" | "memoryLimit" | "torchVersion" | "kernelRules"> {
  /** Called about ten times per second, and after each source. */
  onProgress?: ((progress: RunProgress) => void) | undefined;
  /**
   * With `kinetoscope/worker`: how many traces are read at the same time, each in a worker of its own; 2 by default.
   * `kinetoscope` reads one after the other.
   */
  workers?: number | undefined;
  /** Notes about files that are not among the sources. They come before the notes of the run. */
  notes?: readonly SourceNote[] | undefined;
}

/** Options of a summary. */
export interface SummaryOptions {
  /** The name of the trace in reports; by default that of the source. */
  name?: string | undefined;
  /**
   * Whether nothing is left out. By default a summary takes at most 2 % of the file, or 256 KB if that is more: names with
   * little time and the last collectives are left out, and counted.
   */
  complete?: boolean | undefined;
}

/** Options of `merge`. */
export interface MergeOptions extends Pick<OpenOptions, "signal" | "memoryLimit"> {
  /** The ranks whose events are written; all by default. */
  ranks?: readonly number[] | undefined;
}

/** Options of `ranks` about a run. */
export interface RunRanksOptions extends RanksOptions {
  /** The kinds of rows; all by default. Without `collective` and `rank_step`, the answer is small. */
  kinds?: readonly RanksKind[] | undefined;
}

/** Separates the kinds of rows from the options of the query. */
export function splitKinds(options: RunRanksOptions): { kinds: string[]; query: RanksOptions } {
  const { kinds, ...query } = given.options(options);
  return { kinds: kinds === undefined ? [] : given.texts("kinds", kinds), query };
}

const leaked = new FinalizationRegistry<EngineRun>((engine) => engine.free());

/** The ranks of a run: a summary of each. */
export class Run {
  #engine: EngineRun | undefined;
  /** The number of ranks. */
  readonly length: number;
  /** What should be known about the traces. */
  readonly notes: readonly RanksNoteRow[];

  /** @internal */
  constructor(engine: EngineRun) {
    this.#engine = engine;
    leaked.register(this, engine, this);
    this.length = this.#withEngine((engine) => engine.finish());
    this.notes = this.ranks({ kinds: ["note"] }) as RanksNoteRow[];
  }

  #withEngine<T>(call: (engine: EngineRun) => T): T {
    const engine = this.#engine;
    if (!engine) throw new KinetoscopeError("disposed", "the run was disposed of");
    return guarded(() => call(engine));
  }

  /** Returns what is known about the ranks: late ranks, steps, collectives, clocks, groups, notes. */
  ranks(options: RunRanksOptions = {}): RanksRow[] {
    const { kinds, query } = splitKinds(options);
    return this.#withEngine((engine) => engine.rows(query, kinds)) as RanksRow[];
  }

  /** Returns the same as columns of typed arrays, whose buffers can be transferred. */
  columns(options: RunRanksOptions = {}): Columns<RanksRow> {
    const { kinds, query } = splitKinds(options);
    return this.#withEngine((engine) => engine.columns(query, kinds)) as unknown as Columns<RanksRow>;
  }

  /** Returns the text that `kinetoscope ranks` prints. */
  table(options: RanksOptions = {}): string {
    return this.#withEngine((engine) => engine.table(options));
  }

  /** Returns the document that `kinetoscope ranks --format json` prints. */
  json(options: RanksOptions = {}): string {
    return this.#withEngine((engine) => engine.json(options));
  }

  /** Returns the summaries of all ranks as one file (`.ksum`). The order of the sources does not matter. */
  summary(): Uint8Array {
    return this.#withEngine((engine) => engine.file());
  }

  /** Frees the run. */
  dispose(): void {
    leaked.unregister(this);
    this.#engine?.free();
    this.#engine = undefined;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
