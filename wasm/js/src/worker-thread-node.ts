// The worker itself, in Node: wiring only.

import { parentPort } from "node:worker_threads";
import { open, repair } from "./node.js";
import type { Port, Reply, Request } from "./protocol.js";
import { serve } from "./serve.js";

const take = serve(parentPort as unknown as Port<Reply>, { open, repair });
parentPort?.on("message", (request: Request) => void take(request));
