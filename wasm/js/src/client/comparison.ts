// A comparison of two traces or runs, and its answers.

import type { EngineComparison } from "../generated/glue/engine.js";
import { EngineObject } from "../engine/object.js";
import type { DiffOptions, DiffRow, DiffTreeOptions, DiffTreeRow } from "../generated/queries.js";
import type { Columns } from "./trace.js";

/** The differences of two traces, or of two runs of several ranks. */
export class Comparison extends EngineObject<EngineComparison> {
  /** @internal */
  constructor(engine: EngineComparison) {
    super(engine, "the comparison");
  }

  /** Returns what changed: significant rows first, by the size of their contribution. */
  rows(options: DiffOptions = {}): DiffRow[] {
    return this.withEngine((engine) => engine.rows("diff", options)) as DiffRow[];
  }

  /** Returns the same as columns of typed arrays, whose buffers can be transferred. */
  columns(options: DiffOptions = {}): Columns<DiffRow> {
    return this.withEngine((engine) => engine.columns("diff", options)) as unknown as Columns<DiffRow>;
  }

  /** Returns the call tree of a step with the times of both sides, in depth-first order. */
  tree(options: DiffTreeOptions = {}): DiffTreeRow[] {
    return this.withEngine((engine) => engine.rows("diff-tree", options)) as DiffTreeRow[];
  }

  /** Returns the same as columns of typed arrays. */
  treeColumns(options: DiffTreeOptions = {}): Columns<DiffTreeRow> {
    return this.withEngine((engine) => engine.columns("diff-tree", options)) as unknown as Columns<DiffTreeRow>;
  }

  /** Returns the text that `kinetoscope diff` prints. */
  table(options: DiffOptions = {}): string {
    return this.withEngine((engine) => engine.table("diff", options));
  }

  /** Returns the document that `kinetoscope diff --format json` prints. */
  json(options: DiffOptions = {}): string {
    return this.withEngine((engine) => engine.json("diff", options));
  }

  /** Returns the text that `kinetoscope diff-tree` prints. */
  treeTable(options: DiffTreeOptions = {}): string {
    return this.withEngine((engine) => engine.table("diff-tree", options));
  }

  /** Returns the document that `kinetoscope diff-tree --format json` prints. */
  treeJson(options: DiffTreeOptions = {}): string {
    return this.withEngine((engine) => engine.json("diff-tree", options));
  }
}
