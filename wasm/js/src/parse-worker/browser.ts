// Helpers on a page or in its workers.

import { code } from "../engine/complete.js";
import type { ParseWorkers, Result, SpawnParseWorker } from "./messages.js";

/** The parse workers that `create` makes. */
export function parseWorkersOf(create: () => Worker): ParseWorkers {
  const spawn: SpawnParseWorker = (onResult, onFailure) => {
    const worker = create();
    worker.onmessage = (event: MessageEvent<Result>) => onResult(event.data);
    worker.onerror = (event) => onFailure(new Error(event.message || "the worker could not be started"));
    return worker;
  };
  // Browsers decompress in the thread that reads.
  return { spawn, code, processors: globalThis.navigator?.hardwareConcurrency ?? 1, inflates: true };
}
