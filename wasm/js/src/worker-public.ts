// What the entries give whose traces are in a worker, besides their own functions.

export { RemoteTrace, type RemoteAnswers, type RemoteFace } from "./remote.js";
export * from "./common-public.js";
