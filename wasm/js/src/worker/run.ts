// The page's side of the protocol: runs of several ranks. Each trace is read in a worker of its own, which ends when it has
// returned the summary.

import type { Connection } from "./connection.js";
import { KinetoscopeError, check } from "../base/errors.js";
import * as checks from "../options/checks.js";
import { WorkerObject, type Abortable } from "./object.js";
import type { OpenedRun } from "./protocol.js";
import { mergeOptions, noRank, noteOf, runOptions } from "../client/rank-notes.js";
import type { SummarizeOptions } from "../client/ranks.js";
import type { RanksNoteRow, RanksOptions, RanksRow } from "../generated/queries.js";
import type { MergeOptions, RunOptions, RunRanksOptions } from "../options/run.js";
import type { Source } from "../base/source.js";
import type { Columns } from "../client/trace.js";
import { wireOf } from "./posted-source.js";
import { askOnce, streamOnce, withWorker, type Workers } from "./workers.js";

/** How many traces are read at the same time. */
const WORKERS = 2;

/** A run that a worker holds: a `Run` whose methods return promises. */
export class RemoteRun extends WorkerObject {
  /** The number of ranks. */
  readonly length: number;
  /** What should be known about the traces. */
  readonly notes: readonly RanksNoteRow[];

  /** @internal */
  constructor(connection: Connection, opened: OpenedRun) {
    super(connection, opened.run, "the run");
    this.length = opened.length;
    this.notes = opened.notes;
  }

  ranks(options?: RunRanksOptions & Abortable): Promise<RanksRow[]> {
    return this.ask("ranks", options);
  }

  columns(options?: RunRanksOptions & Abortable): Promise<Columns<RanksRow>> {
    return this.ask("columns", options);
  }

  table(options?: RanksOptions & Abortable): Promise<string> {
    return this.ask("table", options);
  }

  json(options?: RanksOptions & Abortable): Promise<string> {
    return this.ask("json", options);
  }

  rankSummaries(options?: Abortable): Promise<Uint8Array> {
    return this.ask("rankSummaries", options);
  }
}

export interface RemoteRanks {
  /** Works like `openRun` of the package. Each trace is read in a worker of its own, `workers` of them at the same time. */
  openRun(sources: readonly Source[], options?: RunOptions): Promise<RemoteRun>;
  /** Works like `summarize` of the package, in its own worker. */
  summarize(source: Source, options?: SummarizeOptions): Promise<Uint8Array>;
  /** Works like `merge` of the package, in its own worker, which ends with the stream. */
  merge(sources: readonly Source[], options?: MergeOptions): Promise<ReadableStream<Uint8Array>>;
}

export function createRemoteRanks(workers: Workers): RemoteRanks {
  async function summarize(source: Source, options: SummarizeOptions = {}): Promise<Uint8Array> {
    const { signal, onProgress, ...rest } = checks.options(options);
    const [wire, transfer] = await wireOf(source, signal);
    const request = { do: "summarize", source: wire, options: rest, wantsProgress: onProgress !== undefined } as const;
    return askOnce(workers, signal, (one) => one.send<Uint8Array>(request, { transfer, onProgress, signal }));
  }

  async function openRun(sources: readonly Source[], options: RunOptions = {}): Promise<RemoteRun> {
    const { signal, onProgress, workers: width = WORKERS, notes = [], ...rest } = runOptions(sources, options);
    const files: (Uint8Array | undefined)[] = sources.map(() => undefined);
    const failures: unknown[] = sources.map(() => undefined);
    const counts = sources.map(() => ({ bytes: 0, events: 0 }));
    let [next, done] = [0, 0];
    const report = (): void => {
      const sum = (of: "bytes" | "events"): number => counts.reduce((all, one) => all + one[of], 0);
      onProgress?.({ done, total: sources.length, bytes: sum("bytes"), events: sum("events") });
    };
    // Ends the workers of the other sources if one fails for a reason that concerns all.
    const stop = new AbortController();
    const stopAll = (): void => stop.abort(signal?.reason);
    signal?.addEventListener("abort", stopAll, { once: true });
    const read = async (at: number): Promise<void> => {
      try {
        files[at] = await summarize(sources[at] as Source, {
          ...rest,
          complete: true,
          signal: stop.signal,
          onProgress: ({ bytes, events }) => ((counts[at] = { bytes, events }), report()),
        });
      } catch (thrown) {
        if (!(thrown instanceof KinetoscopeError)) throw thrown;
        noteOf(thrown, `source ${at + 1}`);
        failures[at] = thrown;
      }
      done += 1;
      report();
    };
    const readAll = async (): Promise<void> => {
      while (next < sources.length) await read(next++);
    };
    try {
      check(signal);
      await Promise.all(Array.from({ length: Math.min(width, sources.length) }, readAll));
    } catch (thrown) {
      stop.abort();
      throw thrown;
    } finally {
      signal?.removeEventListener("abort", stopAll);
    }
    const failed = failures.filter((one) => one !== undefined);
    if (failed.length === sources.length) throw noRank(failed);
    const all = [
      ...notes,
      ...failures.flatMap((one, at) => (one === undefined ? [] : [noteOf(one, `source ${at + 1}`)])),
    ];
    return withWorker(workers, signal, async (connection) => {
      const read = files.filter((file) => file !== undefined);
      const request = { do: "run", files: read, notes: all } as const;
      const transfer = read.map((file) => file.buffer as ArrayBuffer);
      return new RemoteRun(connection, await connection.send<OpenedRun>(request, { transfer, signal }));
    });
  }

  async function merge(sources: readonly Source[], options: MergeOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const ranks = mergeOptions(sources, options);
    const { signal, memoryLimit } = options;
    const wires = await Promise.all(sources.map(async (source) => (await wireOf(source, signal))[0]));
    const request = { do: "merge", sources: wires, options: { ranks, memoryLimit } } as const;
    return streamOnce(workers, signal, (connection) => connection.send<number>(request, { signal }));
  }

  return { openRun, summarize, merge };
}
