// What both worker entries give besides `open`.

export { KinetoscopeError, type ErrorCode } from "./errors.js";
export type { OpenOptions, Progress } from "./read.js";
export { RemoteTrace, type RemoteAnswers, type RemoteFace } from "./remote.js";
export type { Source } from "./source.js";
export type {
  ChromeEvent,
  Columns,
  Curve,
  CurveOptions,
  Diagnostic,
  Related,
  Relation,
  Spans,
  TextColumn,
  Tiles,
  TilesOptions,
} from "./trace.js";
export * from "./verbs.js";
