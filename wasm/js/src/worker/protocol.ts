// The messages between a page and a worker that holds traces.

import type { Budgets } from "../client/budgets.js";
import type { CompareOptions } from "../options/compare.js";
import type { RanksNoteRow } from "../generated/queries.js";
import type { SummarizeOptions } from "../client/ranks.js";
import type { ReadCounts, ReadingRules } from "../options/open.js";
import type { WindowOptions } from "../options/outline.js";
import type { MergeOptions, RunProgress, SourceNote } from "../options/run.js";
import type { WireError } from "../base/posted-error.js";

/** A source as it is posted. */
export type WireSource =
  | { kind: "blob"; name: string; blob: Blob }
  | { kind: "bytes"; bytes: Uint8Array }
  | { kind: "place"; place: string; isUrl: boolean }
  | { kind: "stream"; name: string; size: number | undefined; stream: ReadableStream<Uint8Array> };

/** The methods of a trace, a run, a comparison or an outline that are called by name. */
export type WorkerMethod =
  | "rows"
  | "columns"
  | "table"
  | "json"
  | "csv"
  | "markdown"
  | "diagnostics"
  | "tiles"
  | "find"
  | "instances"
  | "related"
  | "curve"
  | "event"
  | "rankSummary"
  | "profile"
  | "buffers"
  | "ranks"
  | "tree"
  | "treeColumns"
  | "treeTable"
  | "treeJson"
  | "rankSummaries"
  | "tracks"
  | "density"
  | "eventsWithin";

/** A message to the worker. The reply has the same id. */
export type Request =
  | {
      id: number;
      do: "open";
      sources: WireSource[];
      memoryLimit: number | undefined;
      rules: ReadingRules;
      threads: number | undefined;
      executionTrace: WireSource | undefined;
      captures: WireSource[];
      provenance: WireSource[];
      wantsProgress: boolean;
    }
  | { id: number; do: "summarize"; source: WireSource; options: SummarizeOptions; wantsProgress: boolean }
  | { id: number; do: "run"; files: Uint8Array[]; notes: readonly SourceNote[] }
  | {
      id: number;
      do: "diff";
      sources: { wire: WireSource; isBase: boolean }[];
      options: CompareOptions;
      wantsProgress: boolean;
    }
  | { id: number; do: "trend"; source: WireSource }
  | { id: number; do: "outline"; source: WireSource; threads: number | undefined; wantsProgress: boolean }
  | {
      id: number;
      do: "window";
      outline: number;
      time: readonly [number, number];
      options: Omit<WindowOptions, "signal" | "onProgress">;
      wantsProgress: boolean;
    }
  | { id: number; do: "abort"; request: number }
  | { id: number; do: "ask"; held: number; method: WorkerMethod; arguments: unknown[] }
  | { id: number; do: "merge"; sources: WireSource[]; options: MergeOptions }
  | { id: number; do: "export"; held: number; name: string; options: unknown }
  | { id: number; do: "stream"; held: number; query: string; options: object }
  | { id: number; do: "pull"; writing: number }
  | { id: number; do: "cancel"; writing: number }
  | {
      id: number;
      do: "check";
      sources: WireSource[];
      bases: WireSource[];
      budgets: Budgets;
      options: Omit<CompareOptions, "onProgress">;
    }
  | { id: number; do: "repair"; source: WireSource }
  | { id: number; do: "memory" }
  | { id: number; do: "dispose"; held: number };

/** Metadata of a trace in the worker. */
export interface Opened {
  trace: number;
  name: string;
  startNs: bigint;
  length: number;
}

/** Metadata of a run in the worker. */
export interface OpenedRun {
  run: number;
  length: number;
  notes: readonly RanksNoteRow[];
}

/** Metadata of an outline in the worker. */
export interface OpenedOutline {
  outline: number;
  name: string;
  length: number;
  time: readonly [number, number];
}

/** A message from the worker. */
export type Reply =
  | { id: number; progress: ReadCounts | RunProgress }
  | { id: number; value: unknown }
  | { id: number; error: WireError };
