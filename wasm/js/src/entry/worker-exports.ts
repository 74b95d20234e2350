// The exports of the entries whose traces are in a worker, in addition to their own functions.

export type { Abortable } from "../worker/object.js";
export type { RemoteRepair } from "../worker/check.js";
export { RemoteComparison, type RemoteDiff } from "../worker/diff.js";
export { RemoteOutline, type RemoteOutlines } from "../worker/outline.js";
export { RemoteRun, type RemoteRanks } from "../worker/run.js";
export { RemoteTrace, type RemoteAnswers } from "../worker/trace.js";
export type { PoolOptions, RemoteCalls, RemoteClient, RemotePool } from "../worker/remote.js";
export * from "./common-exports.js";
