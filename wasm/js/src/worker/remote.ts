// The page's side of the protocol: opening traces that a worker holds.

import type { Check } from "../client/budgets.js";
import type { Spawn } from "./connection.js";
import { check, KinetoscopeError } from "../base/errors.js";
import * as checks from "../options/checks.js";
import { rulesOf, type OpenOptions } from "../options/open.js";
import type { Opened, WireSource } from "./protocol.js";
import { createRemoteCheck, type RemoteRepair } from "./check.js";
import { createRemoteDiff, type RemoteDiff } from "./diff.js";
import { createRemoteOutlines, type RemoteOutlines } from "./outline.js";
import { createRemoteRanks, type RemoteRanks } from "./run.js";
import { RemoteTrace } from "./trace.js";
import { createRemoteTrend } from "./trend.js";
import type { Source } from "../base/source.js";
import type { Trend } from "../client/trend.js";
import { wireOf } from "./posted-source.js";
import { OwnWorkers, withWorker, WorkerPool, type Workers } from "./workers.js";

/** What needs a worker. */
export interface RemoteCalls
  extends RemoteRanks, RemoteDiff, RemoteOutlines, RemoteRepair, Check<Source>, Trend<Source> {
  /** Works like `open` of the package, in a worker. */
  open(source: Source, options?: OpenOptions): Promise<RemoteTrace>;
  open(sources: readonly Source[], options?: OpenOptions): Promise<RemoteTrace[]>;
}

/** Options of a pool. */
export interface PoolOptions {
  /** The largest number of workers; 2 by default. */
  workers?: number | undefined;
}

/** Workers that are reused, with what they hold. */
export interface RemotePool extends RemoteCalls {
  /** Returns the size of the memory of all engines in bytes. */
  memoryBytes(): Promise<number>;
  /** Terminates the workers, with the traces that they hold. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** The functions of the package, each with a worker of its own. Aborting terminates the worker. */
export interface RemoteClient extends RemoteCalls {
  /** Returns the size of the memory of all engines in bytes, without those of pools. */
  memoryBytes(): Promise<number>;
  /**
   * Returns the same functions with workers that are reused: most of the time of reading a small trace is that of starting a worker. They
   * start when they are needed, hold several traces each, and keep their memory until the pool is disposed of.
   */
  createPool(options?: PoolOptions): RemotePool;
}

/** The number of workers of a pool. */
const POOL_SIZE = 2;

export function createRemoteClient(spawn: Spawn): RemoteClient {
  const workers = new OwnWorkers(spawn);

  function createPool(options: PoolOptions = {}): RemotePool {
    const { workers: size = POOL_SIZE } = checks.options(options, ["workers"]);
    if (checks.index("workers", size) === 0) throw new KinetoscopeError("bad_option", "workers: at least 1 is needed");
    const pool = new WorkerPool(spawn, size);
    const dispose = (): void => pool.dispose();
    return { ...callsOf(pool), memoryBytes: () => memoryOf(pool), dispose, [Symbol.dispose]: dispose };
  }

  return { ...callsOf(workers), memoryBytes: () => memoryOf(workers), createPool };
}

async function memoryOf(workers: Workers): Promise<number> {
  const sizes = workers.all().map((one) => one.send<number>({ do: "memory" }).catch(() => 0));
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function callsOf(workers: Workers): RemoteCalls {
  async function all(sources: readonly unknown[], options: OpenOptions): Promise<RemoteTrace[]> {
    const { signal, onProgress, memoryLimit, threads, executionTrace, captures, provenance } =
      checks.openOptions(options);
    check(signal);
    const wires: WireSource[] = [];
    const transfer: Transferable[] = [];
    const post = async (source: unknown): Promise<WireSource> => {
      const [wire, buffers] = await wireOf(source, signal);
      transfer.push(...buffers);
      return wire;
    };
    for (const source of sources) wires.push(await post(source));
    const joined = executionTrace === undefined ? undefined : await post(executionTrace);
    const postAll = async (others: readonly unknown[] = []): Promise<WireSource[]> => {
      const posted: WireSource[] = [];
      for (const other of others) posted.push(await post(other));
      return posted;
    };
    const wantsProgress = onProgress !== undefined;
    const joining = {
      executionTrace: joined,
      captures: await postAll(captures),
      provenance: await postAll(provenance),
    };
    const reading = { memoryLimit, rules: rulesOf(options), threads, ...joining, wantsProgress };
    return withWorker(workers, signal, async (connection) => {
      const request = { do: "open", sources: wires, ...reading } as const;
      const opened = await connection.send<Opened[]>(request, { transfer, onProgress, signal });
      return opened.map((one) => new RemoteTrace(connection, one));
    });
  }

  function open(source: Source, options?: OpenOptions): Promise<RemoteTrace>;
  function open(sources: readonly Source[], options?: OpenOptions): Promise<RemoteTrace[]>;
  async function open(source: unknown, options: OpenOptions = {}): Promise<RemoteTrace | RemoteTrace[]> {
    if (Array.isArray(source)) return all(source, options);
    const [trace] = await all([source], options);
    return trace as RemoteTrace;
  }

  return {
    open,
    ...createRemoteRanks(workers),
    ...createRemoteDiff(workers),
    ...createRemoteCheck(workers),
    ...createRemoteTrend(workers),
    ...createRemoteOutlines(workers),
  };
}
