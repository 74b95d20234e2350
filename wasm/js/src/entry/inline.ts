// The package with the engine inside the module, for file:// pages and webviews that cannot fetch files.

import { load } from "../engine/complete.js";
import { createClient } from "../client/client.js";
import { gunzip } from "../reading/gunzip.js";
import { inputOf, type Source } from "../base/source.js";
import { WASM } from "../engine/wasm-text.js";

export * from "./local-exports.js";

function decode(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

export const { open, repair, openRun, summarize, merge, diff, check, trend, outline } = createClient<Source>({
  ready: () => load(() => decode(WASM)),
  input: inputOf,
  gunzip,
});
