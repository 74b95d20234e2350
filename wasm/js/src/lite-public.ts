// The exports of `kinetoscope/lite`, in addition to its function.

export type { Columns, Diagnostic, TextColumn, Tiles, TilesOptions } from "./answering.js";
export { KinetoscopeError, type ErrorCode } from "./errors.js";
export type { LiteClient, LiteOptions } from "./lite-client.js";
export { memoryBytes } from "./lite-engine.js";
export type { LiteQuery, LiteTrace } from "./lite-trace.js";
export type {
  DiagnosticCode,
  OpsOptions,
  OpsRow,
  PreviewSummary,
  Severity,
  SummaryRow,
  TracksOptions,
  TracksRow,
} from "./queries.js";
export type { Progress } from "./open-options.js";
export type { Source } from "./source.js";
