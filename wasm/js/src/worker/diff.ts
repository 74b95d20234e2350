// The page's side of the protocol: comparisons. Both sides are read in one worker, which holds the comparison.

import type { Connection } from "./connection.js";
import { compareOptions, sidesOf, type CompareOptions } from "../options/compare.js";
import { WorkerObject, type Abortable } from "./object.js";
import type { DiffOptions, DiffRow, DiffTreeOptions, DiffTreeRow } from "../generated/queries.js";
import type { Source } from "../base/source.js";
import type { Columns } from "../client/trace.js";
import { wireOf } from "./posted-source.js";
import { withWorker, type Workers } from "./workers.js";

/** A comparison that a worker holds: a `Comparison` whose methods return promises. */
export class RemoteComparison extends WorkerObject {
  /** @internal */
  constructor(connection: Connection, held: number) {
    super(connection, held, "the comparison");
  }

  rows(options?: DiffOptions & Abortable): Promise<DiffRow[]> {
    return this.ask("rows", options);
  }

  columns(options?: DiffOptions & Abortable): Promise<Columns<DiffRow>> {
    return this.ask("columns", options);
  }

  tree(options?: DiffTreeOptions & Abortable): Promise<DiffTreeRow[]> {
    return this.ask("tree", options);
  }

  treeColumns(options?: DiffTreeOptions & Abortable): Promise<Columns<DiffTreeRow>> {
    return this.ask("treeColumns", options);
  }

  table(options?: DiffOptions & Abortable): Promise<string> {
    return this.ask("table", options);
  }

  json(options?: DiffOptions & Abortable): Promise<string> {
    return this.ask("json", options);
  }

  treeTable(options?: DiffTreeOptions & Abortable): Promise<string> {
    return this.ask("treeTable", options);
  }

  treeJson(options?: DiffTreeOptions & Abortable): Promise<string> {
    return this.ask("treeJson", options);
  }
}

export interface RemoteDiff {
  /** Works like `diff` of the package, in a worker of its own. */
  diff(
    base: Source | readonly Source[],
    changed: Source | readonly Source[],
    options?: CompareOptions,
  ): Promise<RemoteComparison>;
}

export function createRemoteDiff(workers: Workers): RemoteDiff {
  async function diff(
    base: Source | readonly Source[],
    changed: Source | readonly Source[],
    options: CompareOptions = {},
  ): Promise<RemoteComparison> {
    const { signal, onProgress, ...rest } = compareOptions(options);
    const sides = sidesOf(base, changed);
    const wires = await Promise.all(sides.map(({ source }) => wireOf(source, signal)));
    const sources = wires.map(([wire], at) => ({ wire, isBase: sides[at]?.isBase === true }));
    const transfer = wires.flatMap(([, transfer]) => transfer);
    return withWorker(workers, signal, async (connection) => {
      const wantsProgress = onProgress !== undefined;
      const request = { do: "diff", sources, options: rest, wantsProgress } as const;
      const report = onProgress as ((progress: unknown) => void) | undefined;
      return new RemoteComparison(
        connection,
        await connection.send<number>(request, { transfer, onProgress: report, signal }),
      );
    });
  }

  return { diff };
}
