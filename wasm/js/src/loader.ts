// Loads an engine, once per module.

import { KinetoscopeError, asError } from "./errors.js";

/** The engine's code: a compiled module, its bytes, a response, or a URL to fetch. */
export type WasmInput = WebAssembly.Module | BufferSource | Response | URL | string;

/** The function of the glue that instantiates its engine. */
type Initialize = (input: { module_or_path: WasmInput }) => Promise<{ memory: WebAssembly.Memory }>;

export interface Loader {
  /** Loads the engine from the result of `supply`, unless it is loaded. After a failure, the next call tries again. */
  load(supply: () => WasmInput | Promise<WasmInput>): Promise<WebAssembly.Memory>;
  /** Waits for the engine, which `load` must have been called for. */
  loaded(): Promise<WebAssembly.Memory>;
  /** Returns the size of the engine's memory in bytes. Memory of disposed traces is reused; the size never decreases. */
  memoryBytes(): number;
}

export function createLoader(initialize: Initialize): Loader {
  let loading: Promise<WebAssembly.Memory> | undefined;
  let memory: WebAssembly.Memory | undefined;

  async function start(supply: () => WasmInput | Promise<WasmInput>): Promise<WebAssembly.Memory> {
    try {
      const exports = await initialize({ module_or_path: await supply() });
      return (memory = exports.memory);
    } catch (thrown) {
      loading = undefined;
      throw asError(thrown, "io");
    }
  }

  function loaded(): Promise<WebAssembly.Memory> {
    if (loading) return loading;
    return Promise.reject(new KinetoscopeError("not_initialized", "call init() before open()"));
  }

  return {
    load: (supply) => (loading ??= start(supply)),
    loaded,
    memoryBytes: () => memory?.buffer.byteLength ?? 0,
  };
}
