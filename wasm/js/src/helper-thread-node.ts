// The entry point of a helper in Node.

import { parentPort } from "node:worker_threads";
import { help } from "./help.js";
import type { Order, Port, Result } from "./helping.js";
import { gunzip } from "./node-input.js";
// zlib writes several chunks into one buffer.
import { collect } from "./pieces.js";

const carryOut = help(parentPort as unknown as Port<Result>, gunzip, collect);
parentPort?.on("message", (order: Order) => void carryOut(order));
