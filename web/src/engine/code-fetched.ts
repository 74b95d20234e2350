// The engine as a separate file that is fetched.

import wasm from "kinetoscope/kinetoscope.wasm?url";
import { fetchOwn } from "./own-file";

/** Fetches and compiles the engine. */
export async function engineCode(): Promise<WebAssembly.Module> {
  const response = await fetchOwn(wasm);
  // Streaming compilation requires the media type `application/wasm`, which not every host sends.
  if (response.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}
