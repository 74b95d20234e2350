// The package with the engine inside the module, for file:// pages and webviews that cannot fetch files.

import { load } from "./engine.js";
import { createClient } from "./client.js";
import { gunzip } from "./gunzip.js";
import { inputOf, type Source } from "./source.js";
import { WASM } from "./wasm-text.js";

export * from "./public.js";

function decode(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

export const { open, repair, openRun, summarize, merge, diff, check, trend, outline } = createClient<Source>({
  ready: () => load(() => decode(WASM)),
  input: inputOf,
  gunzip,
});
