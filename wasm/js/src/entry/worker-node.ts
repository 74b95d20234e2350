// The package behind a worker, in Node.

import { Worker, type TransferListItem } from "node:worker_threads";
import type { Spawn, Thread } from "../worker/connection.js";
import type { Reply } from "../worker/protocol.js";
import { createRemoteClient } from "../worker/remote.js";
import { workerFailure } from "../worker/failure.js";

export * from "./worker-exports.js";

const FILE = "./worker-thread-node.js";

const spawn: Spawn = (onReply, onFailure) => {
  const fail = (why: string): void => onFailure(workerFailure(FILE, import.meta.url, why));
  // Flags of the process, such as --input-type, must not apply to the worker.
  const worker = new Worker(new URL("./worker-thread-node.js", import.meta.url), { execArgv: [] });
  worker.on("message", (reply: Reply) => onReply(reply));
  worker.on("error", (error) => fail(error.message));
  worker.on("exit", (code) => fail(`it has ended with code ${code}`));
  const thread: Thread = {
    postMessage: (message, transfer) => worker.postMessage(message, transfer as readonly TransferListItem[]),
    terminate: () => worker.terminate(),
    setBusy: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
  };
  return thread;
};

export const { open, openRun, summarize, merge, diff, check, repair, trend, outline, memoryBytes, createPool } =
  createRemoteClient(spawn);
