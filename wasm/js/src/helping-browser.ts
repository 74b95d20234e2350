// Helpers on a page or in its workers.

import { code } from "./engine.js";
import type { Helping, Result, SpawnHelper } from "./helping.js";

/** Returns how the workers that `create` makes help. */
export function helpingBy(create: () => Worker): Helping {
  const spawn: SpawnHelper = (onResult, onFailure) => {
    const worker = create();
    worker.onmessage = (event: MessageEvent<Result>) => onResult(event.data);
    worker.onerror = (event) => onFailure(new Error(event.message || "the worker could not be started"));
    return worker;
  };
  // Browsers decompress in the thread that reads.
  return { spawn, code, processors: globalThis.navigator?.hardwareConcurrency ?? 1, inflates: true };
}
