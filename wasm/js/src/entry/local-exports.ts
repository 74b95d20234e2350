// The exports of the entries that hold traces in the same thread, in addition to their functions.

export { memoryBytes, type WasmInput } from "../engine/complete.js";
export type { Client } from "../client/client.js";
export type { Comparison } from "../client/comparison.js";
export type { Diff } from "../client/diff.js";
export type { Outline, Outlines } from "../client/outline.js";
export type { Ranks } from "../client/ranks.js";
export type { Run } from "../client/run.js";
export type { Trace } from "../client/trace.js";
export * from "./common-exports.js";
