// Workers that cannot be started, or have ended.

import { KinetoscopeError } from "../base/errors.js";

/** The error of the worker in the file `name` next to the module `here`. */
export function workerFailure(name: string, here: string, why: string): KinetoscopeError {
  const address = new URL(name, here).href;
  const wayOut = "if its file is elsewhere, start the worker with kinetoscope/remote and kinetoscope/serve";
  return new KinetoscopeError("worker", `the worker ${address} failed: ${why}; ${wayOut}`);
}
