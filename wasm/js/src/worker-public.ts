// What the entries give whose traces are in a worker, besides their own functions.

export { RemoteTrace, type RemoteAnswers, type RemoteClient } from "./remote.js";
export * from "./common-public.js";
