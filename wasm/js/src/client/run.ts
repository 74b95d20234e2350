// The ranks of a run, and its answers.

import type { EngineRun } from "../generated/glue/engine.js";
import * as checks from "../options/checks.js";
import { EngineObject } from "../engine/object.js";
import type { RanksNoteRow, RanksOptions, RanksRow } from "../generated/queries.js";
import type { RunRanksOptions } from "../options/run.js";
import type { Columns } from "./trace.js";

/** Separates the kinds of rows from the options of the query. */
export function splitKinds(options: RunRanksOptions): { kinds: string[] | undefined; query: RanksOptions } {
  const { kinds, ...query } = checks.options(options);
  return { kinds: kinds && checks.texts("kinds", kinds), query };
}

/** The ranks of a run: a summary of each. */
export class Run extends EngineObject<EngineRun> {
  /** The number of ranks. */
  readonly length: number;
  /** What should be known about the traces. */
  readonly notes: readonly RanksNoteRow[];

  /** @internal */
  constructor(engine: EngineRun) {
    super(engine, "the run");
    this.length = this.withEngine((engine) => engine.finish());
    this.notes = this.ranks({ kinds: ["note"] }) as RanksNoteRow[];
  }

  /** Returns what is known about the ranks: late ranks, steps, collectives, clocks, groups, notes. */
  ranks(options: RunRanksOptions = {}): RanksRow[] {
    const { kinds, query } = splitKinds(options);
    return this.withEngine((engine) => engine.rows(query, kinds)) as RanksRow[];
  }

  /** Returns the same as columns of typed arrays, whose buffers can be transferred. */
  columns(options: RunRanksOptions = {}): Columns<RanksRow> {
    const { kinds, query } = splitKinds(options);
    return this.withEngine((engine) => engine.columns(query, kinds)) as unknown as Columns<RanksRow>;
  }

  /** Returns the text that `kinetoscope ranks` prints. */
  table(options: RanksOptions = {}): string {
    return this.withEngine((engine) => engine.table(options));
  }

  /** Returns the document that `kinetoscope ranks --format json` prints. */
  json(options: RanksOptions = {}): string {
    return this.withEngine((engine) => engine.json(options));
  }

  /** Returns the summaries of all ranks as one file (`.ksum`). The order of the sources does not matter. */
  rankSummaries(): Uint8Array {
    return this.withEngine((engine) => engine.file());
  }
}
