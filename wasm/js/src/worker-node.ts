// The package behind a worker, in Node.

import { Worker } from "node:worker_threads";
import type { Reply } from "./protocol.js";
import { remoteFace, type Thread } from "./remote.js";

export * from "./worker-public.js";

export const { open } = remoteFace((onReply, onFailure) => {
  const worker = new Worker(new URL("./worker-thread-node.js", import.meta.url));
  worker.on("message", (reply: Reply) => onReply(reply));
  worker.on("error", onFailure);
  return worker as unknown as Thread;
});
