// The exports of all entries that open traces.

export type { BudgetResult, Budgets, Check, CheckOptions, Limits } from "./budgets.js";
export type { CompareOptions } from "./compare-options.js";
export { KinetoscopeError, type ErrorCode } from "./errors.js";
export { mediaType } from "./media-type.js";
export type { OpenOptions, Progress, ReadCounts } from "./open-options.js";
export type { OutlineOptions, OutlineProgress, WindowOptions } from "./outline-options.js";
export type { SummarizeOptions } from "./ranks.js";
export type {
  MergeOptions,
  RunOptions,
  RunProgress,
  RunRanksOptions,
  SourceNote,
  RankSummaryOptions,
} from "./run-options.js";
export type { Source } from "./source.js";
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
} from "./trace.js";
export type { Trend, TrendOptions, TrendResult } from "./trend.js";
export * from "./queries.js";
