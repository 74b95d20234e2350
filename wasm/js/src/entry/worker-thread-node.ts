// The entry point of the worker in Node.

import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { parentPort, Worker, type TransferListItem } from "node:worker_threads";
import { createClient } from "../client/client.js";
import { code, load } from "../engine/complete.js";
import type { Port, Result, SpawnParseWorker } from "../parse-worker/messages.js";
import { gunzip, inputOf } from "../reading/node.js";
import type { Reply, Request } from "../worker/protocol.js";
import { serve } from "../worker/serve.js";
import type { Source } from "../base/source.js";

const spawn: SpawnParseWorker = (onResult, onFailure) => {
  const worker = new Worker(new URL("./parse-thread-node.js", import.meta.url), { execArgv: [] });
  worker.on("message", (result: Result) => onResult(result));
  worker.on("error", onFailure);
  // A parse worker that waits for orders does not keep the process alive.
  worker.unref();
  return {
    postMessage: (order, transfer) => worker.postMessage(order, transfer as readonly TransferListItem[]),
    terminate: () => worker.terminate(),
  };
};

const client = createClient<Source>({
  ready: () => load(async () => readFile(new URL("../kinetoscope.wasm", import.meta.url))),
  input: inputOf,
  gunzip,
  parseWorkers: { spawn, code, processors: availableParallelism(), inflates: false },
});

const handle = serve(parentPort as unknown as Port<Reply>, client);
parentPort?.on("message", (request: Request) => void handle(request));
