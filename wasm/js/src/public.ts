// What every entry of the package gives besides its own functions.

export { KinetoscopeError, type ErrorCode } from "./errors.js";
export { memoryBytes, type WasmInput } from "./engine.js";
export type { Face } from "./face.js";
export type { OpenOptions, Progress } from "./read.js";
export type { Source } from "./source.js";
export { mediaType } from "./trace.js";
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
  Trace,
} from "./trace.js";
export * from "./verbs.js";
