// The package behind a worker, on a page.

import type { Spawn } from "../worker/connection.js";
import type { Reply } from "../worker/protocol.js";
import { createRemoteClient } from "../worker/remote.js";
import { workerFailure } from "../worker/failure.js";

export * from "./worker-exports.js";

const FILE = "./worker-thread.js";

const spawn: Spawn = (onReply, onFailure) => {
  const fail = (why: string): unknown => workerFailure(FILE, import.meta.url, why);
  try {
    // Bundlers find the worker by this expression.
    const worker = new Worker(new URL("./worker-thread.js", import.meta.url), { type: "module" });
    worker.onmessage = (event: MessageEvent<Reply>) => onReply(event.data);
    worker.onerror = (event) => onFailure(fail(event.message || "it could not be loaded"));
    return worker;
  } catch (thrown) {
    throw fail(String(thrown));
  }
};

export const { open, openRun, summarize, merge, diff, check, repair, trend, outline, memoryBytes, createPool } =
  createRemoteClient(spawn);
