// The entry point of a parse worker in Node.

import { parentPort } from "node:worker_threads";
import { orderHandler } from "../parse-worker/orders.js";
import type { Order, Port, Result } from "../parse-worker/messages.js";
import { gunzip } from "../reading/node.js";
// zlib writes several chunks into one buffer.
import { collect } from "../base/pieces.js";

const carryOut = orderHandler(parentPort as unknown as Port<Result>, gunzip, collect);
parentPort?.on("message", (order: Order) => void carryOut(order));
