// Opens traces, each in a worker of its own, so that they are read side by side and give their memory back.

import { engineCode } from "#engine-code";
import { createRemoteClient, type OpenOptions, type RemoteTrace, type Reply } from "kinetoscope/remote";
import TraceWorker from "./worker?worker&inline";
import type { Begin } from "./worker";

let code: Promise<WebAssembly.Module> | undefined;

/** Compiles the engine once; a failure can be tried again. */
function compiled(): Promise<WebAssembly.Module> {
  code ??= engineCode().catch((thrown: unknown) => {
    code = undefined;
    throw thrown;
  });
  return code;
}

/** Begins to compile the engine before anybody asks for it. */
export async function warmUp(): Promise<void> {
  // Who opens a trace is told what went wrong.
  await compiled().catch(() => undefined);
}

/** What a trace is opened from. */
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
