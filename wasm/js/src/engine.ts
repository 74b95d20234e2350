// Loads the engine, once per module.

import initialize from "./glue/engine.js";
import { KinetoscopeError, asError } from "./errors.js";

/** The engine's code: a compiled module, its bytes, a response, or a URL to fetch. */
export type WasmInput = WebAssembly.Module | BufferSource | Response | URL | string;

let loading: Promise<WebAssembly.Memory> | undefined;
let memory: WebAssembly.Memory | undefined;

/** Loads the engine from the result of `supply`, unless it is loaded. After a failure, the next call tries again. */
export function load(supply: () => WasmInput | Promise<WasmInput>): Promise<WebAssembly.Memory> {
  loading ??= (async () => {
    try {
      const exports = await initialize({ module_or_path: await supply() });
      return (memory = exports.memory);
    } catch (thrown) {
      loading = undefined;
      throw asError(thrown, "io");
    }
  })();
  return loading;
}

/** Waits for the engine, which `load` must have been called for. */
export function loaded(): Promise<WebAssembly.Memory> {
  if (loading) return loading;
  return Promise.reject(new KinetoscopeError("not_initialized", "call init() before open()"));
}

/** Returns the size of the engine's memory in bytes. Memory of disposed traces is reused; the size never decreases. */
export function memoryBytes(): number {
  return memory?.buffer.byteLength ?? 0;
}
