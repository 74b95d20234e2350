// Loads an engine, once per module.

import { KinetoscopeError, asError } from "../base/errors.js";
import { replaceAfterFailure, type Glue } from "../base/instances.js";

/** The engine's code: a compiled module, its bytes, a response, or a URL to fetch. */
export type WasmInput = WebAssembly.Module | BufferSource | Response | URL | string;

export interface Loader {
  /** Loads the engine from the result of `supply`, unless it is loaded. After a failure, the next call tries again. */
  load(supply: () => WasmInput | Promise<WasmInput>): Promise<void>;
  /** Waits for the engine, which `load` must have been called for. */
  loaded(): Promise<void>;
  /** Returns the compiled engine, for other threads. `load` must have been called. */
  code(): Promise<WebAssembly.Module>;
  /** Returns the size of the engine's memory in bytes. Memory of disposed traces is reused; the size decreases only after a failure. */
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

export function createLoader(glue: Glue): Loader {
  let loading: Promise<void> | undefined;
  let compiled: WebAssembly.Module | undefined;
  let isLoaded = false;

  async function start(supply: () => WasmInput | Promise<WasmInput>): Promise<void> {
    try {
      compiled = await compile(await supply());
      await glue.initialize({ module_or_path: compiled });
    } catch (thrown) {
      loading = undefined;
      throw asError(thrown, "io");
    }
    replaceAfterFailure(glue);
    isLoaded = true;
  }

  function loaded(): Promise<void> {
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
    memoryBytes: () => (isLoaded ? glue.initSync(compiled as WebAssembly.Module).memory.buffer.byteLength : 0),
  };
}
