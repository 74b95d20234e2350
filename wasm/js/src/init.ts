// The package with an engine that the caller supplies: for bundlers and hosts that cannot find the file themselves.

import { load, loaded, type WasmInput } from "./engine.js";
import { createClient } from "./client.js";
import { gunzip } from "./gunzip.js";
import { inputOf, type Source } from "./source.js";

export * from "./public.js";

/** Loads the engine; `kinetoscope/kinetoscope.wasm` has its code. Later calls change nothing. */
export async function init(wasm: WasmInput | Promise<WasmInput>): Promise<void> {
  await load(() => wasm);
}

export const { open, repair } = createClient<Source>({ ready: loaded, input: inputOf, gunzip });
