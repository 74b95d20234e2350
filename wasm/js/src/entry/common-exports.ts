// The exports of all entries that open traces.

export type { BudgetResult, Budgets, Check, CheckOptions, Limits } from "../client/budgets.js";
export type { CompareOptions } from "../options/compare.js";
export { KinetoscopeError, type ErrorCode } from "../base/errors.js";
export { mediaType } from "../options/media-type.js";
export type { OpenOptions, Progress, ReadCounts } from "../options/open.js";
export type { OutlineOptions, OutlineProgress, WindowOptions } from "../options/outline.js";
export type { SummarizeOptions } from "../client/ranks.js";
export type {
  MergeOptions,
  RunOptions,
  RunProgress,
  RunRanksOptions,
  SourceNote,
  RankSummaryOptions,
} from "../options/run.js";
export type { KeyOf } from "../client/answers.js";
export type { Source } from "../base/source.js";
export type {
  Buffers,
  BuffersOptions,
  ChromeEvent,
  ColumnBuffers,
  Columns,
  Curve,
  CurveOptions,
  Diagnostic,
  Related,
  Spans,
  StreamOptions,
  TextBuffers,
  TextColumn,
  Tiles,
  TilesOptions,
} from "../client/trace.js";
export type { Trend, TrendOptions, TrendResult } from "../client/trend.js";
export * from "../generated/queries.js";
