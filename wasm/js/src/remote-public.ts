// The page's side of a worker that the caller starts, for bundlers and hosts that load workers in their own way.

export type { Spawn, Thread } from "./connection.js";
export { createRemoteClient } from "./remote.js";
export type { Reply, Request } from "./protocol.js";
export * from "./worker-public.js";
