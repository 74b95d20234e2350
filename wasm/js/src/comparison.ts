// A comparison of two traces or runs, and its answers.

import type { EngineComparison } from "./glue/engine.js";
import { KinetoscopeError, guarded } from "./errors.js";
import type { DiffOptions, DiffRow } from "./queries.js";
import type { Columns } from "./trace.js";

const leaked = new FinalizationRegistry<EngineComparison>((engine) => engine.free());

/** The differences of two traces, or of two runs of several ranks. */
export class Comparison {
  #engine: EngineComparison | undefined;

  /** @internal */
  constructor(engine: EngineComparison) {
    this.#engine = engine;
    leaked.register(this, engine, this);
  }

  #withEngine<T>(call: (engine: EngineComparison) => T): T {
    const engine = this.#engine;
    if (!engine) throw new KinetoscopeError("disposed", "the comparison was disposed of");
    return guarded(() => call(engine));
  }

  /** Returns what changed: significant rows first, by the size of their contribution. */
  rows(options: DiffOptions = {}): DiffRow[] {
    return this.#withEngine((engine) => engine.rows(options)) as DiffRow[];
  }

  /** Returns the same as columns of typed arrays, whose buffers can be transferred. */
  columns(options: DiffOptions = {}): Columns<DiffRow> {
    return this.#withEngine((engine) => engine.columns(options)) as unknown as Columns<DiffRow>;
  }

  /** Returns the text that `kinetoscope diff` prints. */
  table(options: DiffOptions = {}): string {
    return this.#withEngine((engine) => engine.table(options));
  }

  /** Returns the document that `kinetoscope diff --format json` prints. */
  json(options: DiffOptions = {}): string {
    return this.#withEngine((engine) => engine.json(options));
  }

  /** Frees the comparison. */
  dispose(): void {
    leaked.unregister(this);
    this.#engine?.free();
    this.#engine = undefined;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
