// The package behind a worker, in Node.

import { Worker, type TransferListItem } from "node:worker_threads";
import type { Thread } from "./connection.js";
import type { Reply } from "./protocol.js";
import { createRemoteClient } from "./remote.js";

export * from "./worker-public.js";

export const { open, openRun, summarize, merge, diff, trend, outline } = createRemoteClient((onReply, onFailure) => {
  // Flags of the process, such as --input-type, must not apply to the worker.
  const worker = new Worker(new URL("./worker-thread-node.js", import.meta.url), { execArgv: [] });
  worker.on("message", (reply: Reply) => onReply(reply));
  worker.on("error", onFailure);
  const thread: Thread = {
    postMessage: (message, transfer) => worker.postMessage(message, transfer as readonly TransferListItem[]),
    terminate: () => worker.terminate(),
    setBusy: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
  };
  return thread;
});
