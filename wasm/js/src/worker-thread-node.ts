// The entry point of the worker in Node.

import { parentPort } from "node:worker_threads";
import { diff, merge, open, openRun, repair, summarize, trend } from "./node.js";
import type { Port, Reply, Request } from "./protocol.js";
import { serve } from "./serve.js";

const handle = serve(parentPort as unknown as Port<Reply>, { open, repair, openRun, summarize, merge, diff, trend });
parentPort?.on("message", (request: Request) => void handle(request));
