// The engine's code as a file beside the page.

import wasm from "kinetoscope/kinetoscope.wasm?url";

/** Compiles the engine. */
export async function engineCode(): Promise<WebAssembly.Module> {
  const response = await fetch(wasm);
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
  // A host that does not know the type of WebAssembly cannot have it compiled while it arrives.
  if (response.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}
