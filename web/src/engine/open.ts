// Opens traces, each in its own worker: they are read in parallel, and closing a trace frees its memory.

import { engineCode } from "#engine-code";
import { createRemoteClient, type OpenOptions, type RemoteTrace, type Reply } from "kinetoscope/remote";
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

/** Opens one trace. */
export async function openTrace(input: Input, options: OpenOptions): Promise<RemoteTrace> {
  const begin: Begin = { code: await compiled() };
  options.signal?.throwIfAborted();
  const { open } = createRemoteClient((onReply, onFailure) => {
    const worker = new TraceWorker();
    worker.onmessage = (event: MessageEvent<Reply>) => onReply(event.data);
    worker.onerror = (event) => onFailure(new Error(event.message || "the worker could not be started"));
    worker.postMessage(begin);
    return worker;
  });
  return open(input, options);
}
