// `kinetoscope/parse-worker`: a worker that parses and decompresses large traces, for hosts that start their workers themselves.

import { gunzip } from "../reading/gunzip.js";
import { orderHandler } from "../parse-worker/orders.js";
import type { Order } from "../parse-worker/messages.js";
import { gather } from "../base/pieces.js";

/** Makes the worker that calls this a parse worker: it parses and decompresses for the thread that created it. */
export function serveParseWorker(): void {
  const scope = globalThis as unknown as Worker;
  const carryOut = orderHandler(scope, gunzip, gather);
  scope.onmessage = (event: MessageEvent<Order>) => void carryOut(event.data);
}
