// What the entries give that hold traces themselves, besides their own functions.

export { memoryBytes, type WasmInput } from "./engine.js";
export type { Client } from "./client.js";
export { mediaType, type Trace } from "./trace.js";
export * from "./common-public.js";
