// The page's side of a worker that the caller starts, for bundlers and hosts that load workers in their own way.

export type { Spawn, Thread } from "../worker/connection.js";
export { createRemoteClient } from "../worker/remote.js";
export type { Reply, Request } from "../worker/protocol.js";
export * from "./worker-exports.js";
