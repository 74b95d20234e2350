// The package behind a worker, on a page.

import type { Reply } from "./protocol.js";
import { createRemoteClient } from "./remote.js";

export * from "./worker-public.js";

export const { open, openRun, summarize, merge, diff, trend, outline } = createRemoteClient((onReply, onFailure) => {
  const worker = new Worker(new URL("./worker-thread.js", import.meta.url), { type: "module" });
  worker.onmessage = (event: MessageEvent<Reply>) => onReply(event.data);
  worker.onerror = (event) => onFailure(new Error(event.message || "the worker could not be started"));
  return worker;
});
