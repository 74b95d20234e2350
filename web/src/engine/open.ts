// Opens traces, each in its own worker: they are read in parallel, and closing a trace frees its memory.

import { engineCode } from "#engine-code";
import {
  createRemoteClient,
  type OpenOptions,
  type OutlineOptions,
  type RemoteClient,
  type RemoteComparison,
  type RemoteOutline,
  type RemoteRun,
  type RemoteTrace,
  type Reply,
  type RunOptions,
  type TrendResult,
} from "kinetoscope/remote";
import TraceWorker from "./worker?worker&inline";
import type { Begin } from "./worker";

let code: Promise<WebAssembly.Module> | undefined;

/** Compiles the engine once. After a failure, the next call tries again. */
function compiled(): Promise<WebAssembly.Module> {
  code ??= engineCode().catch((thrown: unknown) => {
    code = undefined;
    throw thrown;
  });
  return code;
}

/** Compiles the engine before the first trace is opened. */
export async function warmUp(): Promise<void> {
  // A failure is reported when a trace is opened.
  await compiled().catch(() => undefined);
}

/** The source of a trace. */
export type Input = File | Response;

/** Returns a client whose workers have the compiled engine. */
async function client(): Promise<RemoteClient> {
  const begin: Begin = { code: await compiled() };
  return createRemoteClient((onReply, onFailure) => {
    const worker = new TraceWorker();
    worker.onmessage = (event: MessageEvent<Reply>) => onReply(event.data);
    worker.onerror = (event) => onFailure(new Error(event.message || "the worker could not be started"));
    worker.postMessage(begin);
    return worker;
  });
}

/** Opens one trace. */
export async function openTrace(input: Input, options: OpenOptions): Promise<RemoteTrace> {
  const { open } = await client();
  options.signal?.throwIfAborted();
  return open(input, options);
}

/** Reads the outline of a trace that may be larger than memory. */
export async function openOutline(file: File, options: OutlineOptions): Promise<RemoteOutline> {
  const { outline } = await client();
  options.signal?.throwIfAborted();
  return outline(file, options);
}

/** How many traces of a run are read at the same time. Each takes a core and the memory of a trace. */
const WORKERS = Math.min(4, Math.max(2, Math.floor((navigator.hardwareConcurrency || 4) / 2)));

/** Reads the traces and summaries of a run. Only the summaries are kept. */
export async function openRun(sources: readonly (File | Uint8Array)[], options: RunOptions): Promise<RemoteRun> {
  const { openRun } = await client();
  return openRun(sources, { workers: WORKERS, ...options });
}

/** Compares two traces by what their `profile()` returned, and returns what `read` reads from the comparison. */
export async function compareProfiles<T>(
  base: Uint8Array,
  changed: Uint8Array,
  read: (comparison: RemoteComparison) => Promise<T>,
): Promise<T> {
  const { diff } = await client();
  // Copies, because the bytes are transferred to the worker.
  const comparison = await diff(base.slice(), changed.slice());
  try {
    return await read(comparison);
  } finally {
    comparison.dispose();
  }
}

/** Reads a history. */
export async function readTrend(file: File): Promise<TrendResult> {
  const { trend } = await client();
  return trend(file);
}

/** Writes one trace of several ranks. */
export async function mergeTraces(files: readonly File[], signal: AbortSignal): Promise<Blob> {
  const { merge } = await client();
  return new Response(await merge(files, { signal })).blob();
}
