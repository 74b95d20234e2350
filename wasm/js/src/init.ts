// The package with an engine that the caller supplies, for bundlers and hosts that do not find the file.

import { load, loaded, type WasmInput } from "./engine.js";
import { createClient } from "./client.js";
import { gunzip } from "./gunzip.js";
import { inputOf, type Source } from "./source.js";

export * from "./public.js";

/** Loads the engine from the code in `kinetoscope/kinetoscope.wasm`. Later calls have no effect. */
export async function init(wasm: WasmInput | Promise<WasmInput>): Promise<void> {
  await load(() => wasm);
}

export const { open, repair, openRun, summarize, merge, diff, check, trend } = createClient<Source>({
  ready: loaded,
  input: inputOf,
  gunzip,
});
