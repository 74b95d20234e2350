// The options of `open`, and what reading needs of the engine and the platform.

import type { Reading } from "../generated/glue/engine.js";
import type { Gunzip, ParseWorkers, Parses } from "../parse-worker/messages.js";
import type { PreviewSummary } from "../generated/queries.js";
import type { Source } from "../base/source.js";

/** How much was read. */
export interface ReadCounts {
  /** Bytes of the source that were read, before decompression. */
  bytes: number;
  /** The size of the source in bytes, if it is known. */
  totalBytes: number | undefined;
  /** Bytes of decompressed text that were read. */
  textBytes: number;
  /** Events that were read. */
  events: number;
}

export interface Progress extends ReadCounts {
  /** A summary of the events that were read. */
  preview: PreviewSummary;
}

/** Options of `open`; `S` is what it reads. */
export interface OpenOptions<S = Source> {
  /** Aborts reading and frees its memory. */
  signal?: AbortSignal | undefined;
  /** Called about ten times per second, and at the end. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * The largest amount of memory that the trace and an analysis of it may use, in bytes; 3 GiB by default, and at
   * most. At the limit the reader stops and keeps the events that it has read; the diagnostics contain the code `memory_limit`.
   */
  memoryLimit?: number | undefined;
  /**
   * The version of PyTorch whose rules make the events and averages, such as `"2.15"`; by default the version that wrote
   * the trace, as far as the trace shows it.
   */
  torchVersion?: string | undefined;
  /**
   * Rules for the categories of kernels, which come before the built-in ones: lines of `category,pattern`.
   */
  kernelRules?: string | undefined;
  /**
   * Rules for the names of iterations of inference engines, which come before the built-in ones: lines of `phase,pattern`.
   */
  stepRules?: string | undefined;
  /**
   * The steps are the ranges whose names match this expression, instead of those that rules recognise. Its named groups `phase`, `batch`,
   * `tokens` and `number` state what the names show.
   */
  stepsFrom?: RegExp | undefined;
  /**
   * With `kinetoscope/worker`, and with `parseWorker` of `init`: how many threads parse a large trace, in addition to the one that holds it. By
   * default two less than there are processors, and at most 8; with 0, one thread reads all. `kinetoscope` parses in its own thread.
   */
  threads?: number | undefined;
  /**
   * The execution trace that was recorded with the trace: `events` and the export `execution-trace` then have its inputs,
   * outputs, tensor ids and storages. With several sources, it is joined to each.
   */
  executionTrace?: S | undefined;
  /**
   * Traces of the captures of CUDA and HIP graphs that the trace replays: the kernels of the graphs then have operators, modules and shapes.
   * With several sources, they are joined to each. If no capture agrees with a launch, that is an error (`bad_option`); `fitness` states how much of the
   * device time has an operator.
   */
  captures?: readonly S[] | undefined;
  /**
   * Files that say where kernels come from: logs of `TORCH_TRACE`, files of one folder of `torch_compile_debug`, `kernel_information.json`, and annotations
   * or stacks of the nodes of CUDA graphs. `compiled` and `kernels` then have source lines, nodes and operators. With several sources, they are joined to
   * each. If nothing in a trace is what the files describe, that is an error (`bad_option`).
   */
  provenance?: readonly S[] | undefined;
}

/** The options that name further sources. */
export type Joined = "executionTrace" | "captures" | "provenance";

/** The rules that a trace is read by. */
export type ReadingRules = Pick<OpenOptions, "torchVersion" | "kernelRules" | "stepRules" | "stepsFrom">;

/** The names of the rules. */
export const RULES = ["torchVersion", "kernelRules", "stepRules", "stepsFrom"] as const;

/** Returns the rules among options. */
export function rulesOf({ torchVersion, kernelRules, stepRules, stepsFrom }: ReadingRules): ReadingRules {
  return { torchVersion, kernelRules, stepRules, stepsFrom };
}

/** Returns what the name of a range states if it is that of a step: phase, requests, tokens and number. */
export type StepOf = (name: string) => (string | undefined)[] | undefined;

/** The methods of a reader that takes segments, which the small engine and other readers have not. */
type Splicing = Pick<Reading, "takes_segments" | "splice">;

/** What is fed with a file. */
export interface Fed
  extends
    Pick<Reading, "feed" | "feed_text" | "start_over" | "text_bytes" | "events" | "is_full" | "free">,
    Partial<Splicing> {}

/** The reader of an engine, which makes a trace `E`. */
export interface EngineReading<E> extends Fed, Pick<Reading, "preview"> {
  finish(
    torchVersion: string | undefined,
    kernelRules: string | undefined,
    stepRules: string | undefined,
    stepsFrom: StepOf | undefined,
  ): E;
}

/** The parts of reading that depend on the platform. */
export interface Reader {
  gunzip: Gunzip | undefined;
  parseWorkers?: ParseWorkers | undefined;
}

/** The options of reading one source. */
export type ReadOptions = Omit<OpenOptions, Joined>;

/** The options of feeding a reader. */
export interface FeedOptions extends Pick<OpenOptions, "signal" | "threads"> {
  /** What parse workers make of pieces of text. */
  parses?: Parses;
  /** Called about ten times per second, and at the end. */
  onCounts?: ((counts: ReadCounts) => void) | undefined;
}
