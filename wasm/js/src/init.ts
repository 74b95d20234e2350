// The package with an engine that the caller supplies, for bundlers and hosts that do not find the file.

import { load, loaded, type WasmInput } from "./engine.js";
import { createClient } from "./client.js";
import { gunzip } from "./gunzip.js";
import { helpingBy } from "./helping-browser.js";
import type { Platform } from "./open.js";
import { inputOf, type Source } from "./source.js";

export * from "./public.js";

/** Options of `init`. */
export interface InitOptions {
  /**
   * Starts a worker that calls `serveHelper` of `kinetoscope/helper`. Then `open` decompresses and parses large traces in such
   * workers, as `kinetoscope/worker` does; without it, in its own thread.
   */
  helper?: (() => Worker) | undefined;
}

const platform: Platform<Source> = { ready: loaded, input: inputOf, gunzip };

/** Loads the engine from the code in `kinetoscope/kinetoscope.wasm`. Later calls have no effect. */
export async function init(wasm: WasmInput | Promise<WasmInput>, { helper }: InitOptions = {}): Promise<void> {
  if (helper) platform.helping ??= helpingBy(helper);
  await load(() => wasm);
}

export const { open, repair, openRun, summarize, merge, diff, check, trend, outline } = createClient<Source>(platform);
