// The exports of `kinetoscope/lite`, in addition to its function.

export type { Columns, Diagnostic, KeyOf, TextColumn, Tiles, TilesOptions } from "../client/answers.js";
export { KinetoscopeError, type ErrorCode } from "../base/errors.js";
export type { LiteClient, LiteOptions } from "../client/lite-client.js";
export { memoryBytes } from "../engine/lite.js";
export type { LiteQuery, LiteTrace } from "../client/lite-trace.js";
export type {
  DiagnosticCode,
  OpsOptions,
  OpsRow,
  PreviewSummary,
  Severity,
  SummaryRow,
  TracksOptions,
  TracksRow,
} from "../generated/queries.js";
export type { Progress } from "../options/open.js";
export type { Source } from "../base/source.js";
