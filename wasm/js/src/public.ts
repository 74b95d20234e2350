// The exports of the entries that hold traces in the same thread, in addition to their functions.

export { memoryBytes, type WasmInput } from "./engine.js";
export type { Client } from "./client.js";
export type { Comparison } from "./comparison.js";
export type { Diff } from "./diff.js";
export type { Outline, Outlines } from "./outline.js";
export type { Ranks } from "./ranks.js";
export type { Run } from "./run.js";
export type { Trace } from "./trace.js";
export * from "./common-public.js";
