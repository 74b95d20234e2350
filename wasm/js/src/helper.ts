// `kinetoscope/helper`: a worker that helps to read large traces, for hosts that start their workers themselves.

import { gunzip } from "./gunzip.js";
import { help } from "./help.js";
import type { Order } from "./helping.js";
import { gather } from "./pieces.js";

/** Makes the worker that calls this a helper: it parses and decompresses for the thread that created it. */
export function serveHelper(): void {
  const scope = globalThis as unknown as Worker;
  const carryOut = help(scope, gunzip, gather);
  scope.onmessage = (event: MessageEvent<Order>) => void carryOut(event.data);
}
