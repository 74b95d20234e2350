// The page's side of the protocol: opening traces that a worker holds.

import { Connection, type MessageBody, type Spawn } from "./connection.js";
import { aborted, asError, check } from "./errors.js";
import { openOptions } from "./given.js";
import type { OpenOptions } from "./open-options.js";
import type { Opened, WireSource } from "./protocol.js";
import { createRemoteDiff, type RemoteDiff } from "./remote-diff.js";
import { createRemoteOutlines, type RemoteOutlines } from "./remote-outline.js";
import { createRemoteRanks, type RemoteRanks } from "./remote-run.js";
import { RemoteTrace } from "./remote-trace.js";
import { createRemoteTrend } from "./remote-trend.js";
import type { Source } from "./source.js";
import type { Trend } from "./trend.js";
import { wireOf } from "./wire-source.js";

export interface RemoteClient extends RemoteRanks, RemoteDiff, RemoteOutlines, Trend<Source> {
  /** Works like `open` of the package, in its own worker; aborting terminates the worker. */
  open(source: Source, options?: OpenOptions): Promise<RemoteTrace>;
  open(sources: readonly Source[], options?: OpenOptions): Promise<RemoteTrace[]>;
}

export function createRemoteClient(spawn: Spawn): RemoteClient {
  async function all(sources: readonly unknown[], options: OpenOptions): Promise<RemoteTrace[]> {
    const { signal, onProgress, memoryLimit, torchVersion, kernelRules, threads, executionTrace } =
      openOptions(options);
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
    const connection = new Connection(spawn);
    const abort = (): void => connection.end(aborted(signal as AbortSignal));
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const wantsProgress = onProgress !== undefined;
      const request: MessageBody = {
        do: "open",
        sources: wires,
        memoryLimit,
        torchVersion,
        kernelRules,
        threads,
        executionTrace: joined,
        wantsProgress,
      };
      const opened = await connection.send<Opened[]>(request, { transfer, onProgress });
      return opened.map((one) => new RemoteTrace(connection, one));
    } catch (thrown) {
      connection.end(asError(thrown, "internal"));
      throw thrown;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
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
    ...createRemoteRanks(spawn),
    ...createRemoteDiff(spawn),
    ...createRemoteTrend(spawn),
    ...createRemoteOutlines(spawn),
  };
}
