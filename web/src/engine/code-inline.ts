// The engine inside the page, for the single-file build.

import text from "kinetoscope/kinetoscope.wasm?url";
import { bytesOf } from "./data-url";

/** Compiles the engine. */
export function engineCode(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(bytesOf(text));
}
