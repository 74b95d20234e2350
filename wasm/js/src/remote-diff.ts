// The page's side of the protocol: comparisons. Both sides are read in one worker, which holds the comparison.

import { withWorker, type Connection, type Spawn } from "./connection.js";
import { KinetoscopeError } from "./errors.js";
import { compareOptions, sidesOf, type CompareOptions } from "./compare-options.js";
import type { Comparison } from "./comparison.js";
import type { HeldMethod } from "./protocol.js";
import type { DiffOptions, DiffRow } from "./queries.js";
import type { Source } from "./source.js";
import type { Columns } from "./trace.js";
import { wireOf } from "./wire-source.js";

const leaked = new FinalizationRegistry<() => void>((release) => release());

/** A comparison that a worker holds: a `Comparison` whose methods return promises. */
export class RemoteComparison {
  #connection: Connection;
  #held: number;
  #disposed = false;

  /** @internal */
  constructor(connection: Connection, held: number) {
    this.#connection = connection;
    this.#held = held;
    connection.traces += 1;
    const reason = this.#disposedError();
    leaked.register(this, () => connection.release(held, reason), this);
  }

  #disposedError(): KinetoscopeError {
    return new KinetoscopeError("disposed", "the comparison was disposed of");
  }

  #ask<T>(method: HeldMethod & keyof Comparison, ...given: unknown[]): Promise<T> {
    if (this.#disposed) return Promise.reject(this.#disposedError());
    return this.#connection.send<T>({ do: "ask", held: this.#held, method, arguments: given }, { holder: this });
  }

  rows(options?: DiffOptions): Promise<DiffRow[]> {
    return this.#ask("rows", options);
  }

  columns(options?: DiffOptions): Promise<Columns<DiffRow>> {
    return this.#ask("columns", options);
  }

  table(options?: DiffOptions): Promise<string> {
    return this.#ask("table", options);
  }

  json(options?: DiffOptions): Promise<string> {
    return this.#ask("json", options);
  }

  /** Frees the comparison and terminates its worker. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    leaked.unregister(this);
    this.#connection.release(this.#held, this.#disposedError());
  }

  [Symbol.dispose](): void {
    this.dispose();
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

export function createRemoteDiff(spawn: Spawn): RemoteDiff {
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
    return withWorker(spawn, signal, async (connection) => {
      const wantsProgress = onProgress !== undefined;
      const request = { do: "diff", sources, options: rest, wantsProgress } as const;
      const report = onProgress as ((progress: unknown) => void) | undefined;
      return new RemoteComparison(connection, await connection.send<number>(request, { transfer, onProgress: report }));
    });
  }

  return { diff };
}
