// Loads the engine, once for a module.

import initialize from "./glue/engine.js";
import { KinetoscopeError, asError } from "./errors.js";

/** The engine's code: a compiled module, its bytes, a response or the place that has them. */
export type WasmInput = WebAssembly.Module | BufferSource | Response | URL | string;

let loading: Promise<WebAssembly.Memory> | undefined;
let memory: WebAssembly.Memory | undefined;

/** Loads the engine from what `supply` gives, unless that was done; a load that failed can be tried again. */
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

/** Waits for an engine that someone else has to load. */
export function loaded(): Promise<WebAssembly.Memory> {
  if (loading) return loading;
  return Promise.reject(new KinetoscopeError("not_initialized", "call init() before open()"));
}

/** How much memory the engine holds, in bytes. It is used again after a trace is disposed of, and never shrinks. */
export function memoryBytes(): number {
  return memory?.buffer.byteLength ?? 0;
}
