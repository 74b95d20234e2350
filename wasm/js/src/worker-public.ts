// The exports of the entries whose traces are in a worker, in addition to their own functions.

export { RemoteComparison, type RemoteDiff } from "./remote-diff.js";
export { RemoteRun, type RemoteRanks } from "./remote-run.js";
export { RemoteTrace, type RemoteAnswers, type RemoteClient } from "./remote.js";
export * from "./common-public.js";
