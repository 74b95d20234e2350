// The exports of the entries whose traces are in a worker, in addition to their own functions.

export type { Abortable } from "./held.js";
export type { RemoteRepair } from "./remote-check.js";
export { RemoteComparison, type RemoteDiff } from "./remote-diff.js";
export { RemoteOutline, type RemoteOutlines } from "./remote-outline.js";
export { RemoteRun, type RemoteRanks } from "./remote-run.js";
export { RemoteTrace, type RemoteAnswers } from "./remote-trace.js";
export type { PoolOptions, RemoteCalls, RemoteClient, RemotePool } from "./remote.js";
export * from "./common-public.js";
