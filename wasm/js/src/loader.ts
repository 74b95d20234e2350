// Loads an engine, once per module.

import { KinetoscopeError, asError } from "./errors.js";

/** The engine's code: a compiled module, its bytes, a response, or a URL to fetch. */
export type WasmInput = WebAssembly.Module | BufferSource | Response | URL | string;

/** The function of the glue that instantiates its engine. */
type Initialize = (input: { module_or_path: WebAssembly.Module }) => Promise<{ memory: WebAssembly.Memory }>;

export interface Loader {
  /** Loads the engine from the result of `supply`, unless it is loaded. After a failure, the next call tries again. */
  load(supply: () => WasmInput | Promise<WasmInput>): Promise<WebAssembly.Memory>;
  /** Waits for the engine, which `load` must have been called for. */
  loaded(): Promise<WebAssembly.Memory>;
  /** Returns the compiled engine, for other threads. `load` must have been called. */
  code(): Promise<WebAssembly.Module>;
  /** Returns the size of the engine's memory in bytes. Memory of disposed traces is reused; the size never decreases. */
  memoryBytes(): number;
}

/** Compiles an engine. */
async function compile(input: WasmInput): Promise<WebAssembly.Module> {
  if (input instanceof WebAssembly.Module) return input;
  if (typeof input === "string" || input instanceof URL) return compile(await fetch(input));
  if (!(input instanceof Response)) return WebAssembly.compile(input);
  if (!input.ok) throw new KinetoscopeError("http", `${input.url}: ${input.status} ${input.statusText}`.trim());
  // Compiling while the bytes arrive requires the media type `application/wasm`, which not every host sends.
  if (input.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(input);
  return WebAssembly.compile(await input.arrayBuffer());
}

export function createLoader(initialize: Initialize): Loader {
  let loading: Promise<WebAssembly.Memory> | undefined;
  let memory: WebAssembly.Memory | undefined;
  let compiled: WebAssembly.Module | undefined;

  async function start(supply: () => WasmInput | Promise<WasmInput>): Promise<WebAssembly.Memory> {
    try {
      compiled = await compile(await supply());
      const exports = await initialize({ module_or_path: compiled });
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
    code: async () => {
      await loaded();
      return compiled as WebAssembly.Module;
    },
    memoryBytes: () => memory?.buffer.byteLength ?? 0,
  };
}
