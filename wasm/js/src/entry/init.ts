// The package with an engine that the caller supplies, for bundlers and hosts that do not find the file.

import { load, loaded, type WasmInput } from "../engine/complete.js";
import { createClient } from "../client/client.js";
import { gunzip } from "../reading/gunzip.js";
import { parseWorkersOf } from "../parse-worker/browser.js";
import type { Platform } from "../reading/open.js";
import { inputOf, type Source } from "../base/source.js";

export * from "./local-exports.js";

/** Options of `init`. */
export interface InitOptions {
  /**
   * Starts a worker that calls `serveParseWorker` of `kinetoscope/parse-worker`. Then `open` decompresses and parses large traces in such
   * workers, as `kinetoscope/worker` does; without it, in its own thread.
   */
  parseWorker?: (() => Worker) | undefined;
}

const platform: Platform<Source> = { ready: loaded, input: inputOf, gunzip };

/** Loads the engine from the code in `kinetoscope/kinetoscope.wasm`. Later calls have no effect. */
export async function init(wasm: WasmInput | Promise<WasmInput>, { parseWorker }: InitOptions = {}): Promise<void> {
  if (parseWorker) platform.parseWorkers ??= parseWorkersOf(parseWorker);
  await load(() => wasm);
}

export const { open, repair, openRun, summarize, merge, diff, check, trend, outline } = createClient<Source>(platform);
