// The engine's code within the page, for a page that is one file.

import text from "kinetoscope/kinetoscope.wasm?url";
import { bytesOf } from "./data-url";

/** Compiles the engine. */
export function engineCode(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(bytesOf(text));
}
