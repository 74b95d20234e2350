// The ranks of a run, and its answers.

import type { EngineRun } from "./glue/engine.js";
import { KinetoscopeError, guarded } from "./errors.js";
import * as given from "./given.js";
import type { RanksNoteRow, RanksOptions, RanksRow } from "./queries.js";
import type { RunRanksOptions } from "./run-options.js";
import type { Columns } from "./trace.js";

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
