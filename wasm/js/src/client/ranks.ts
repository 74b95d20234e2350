// `openRun`, `summarize` and `merge`, independent of the platform. One trace is in memory at a time.

import { EngineRun, type EngineMerging } from "../generated/glue/engine.js";
import { KinetoscopeError, asError, check, guarded, using } from "../base/errors.js";
import * as checks from "../options/checks.js";
import { mergeOptions, noRank, noteOf, runOptions } from "./rank-notes.js";
import { RULES, rulesOf, type Joined, type OpenOptions, type Progress } from "../options/open.js";
import type { ReadTrace } from "../reading/read.js";
import type { MergeOptions, RunOptions, SourceNote, RankSummaryOptions } from "../options/run.js";
import { Run } from "./run.js";
import { bytesOr } from "../reading/small-file.js";
import { streamOf, type Input } from "../base/source.js";

/** How sources are read. */
export interface Reader<S> {
  /** Loads the engine. */
  ready(): Promise<unknown>;
  input(source: S, signal: AbortSignal | undefined): Promise<Input>;
  trace(from: Input, options: Omit<OpenOptions, Joined>): Promise<ReadTrace>;
}

/** Options of `summarize`. */
export type SummarizeOptions = RankSummaryOptions & Omit<OpenOptions, Joined>;

export interface Ranks<S> {
  /**
   * Reads the traces of the ranks of a run, one after the other, and keeps their summaries. Files of summaries (`.ksum`) are
   * sources as well. A source that cannot be read becomes a note.
   *
   * @throws {KinetoscopeError} if none of the sources can be read, or an option is invalid.
   */
  openRun(sources: readonly S[], options?: RunOptions): Promise<Run>;
  /**
   * Returns the summary of a trace as the bytes of a file (`.ksum`), for `openRun` and `kinetoscope ranks`.
   *
   * @throws {KinetoscopeError} as `open`.
   */
  summarize(source: S, options?: SummarizeOptions): Promise<Uint8Array>;
  /**
   * Writes the events of several ranks as one Chrome trace on one clock, as UTF-8 bytes. The sources are read twice: for the
   * clocks, then for the events. The text of one rank is in memory at a time.
   *
   * @throws {KinetoscopeError} if a source cannot be read, can be read only once (`bad_source`), or the run does not have one
   * of the ranks (`bad_option`).
   */
  merge(sources: readonly S[], options?: MergeOptions): Promise<ReadableStream<Uint8Array>>;
}

/** The first bytes of a file of summaries. */
const MAGIC = "KSUM";

/** Returns the same summaries, checked. */
function checked(file: Uint8Array, name: string): Uint8Array {
  try {
    return using(new EngineRun(), (run) => (run.add(file), run.file()));
  } catch (thrown) {
    const error = asError(thrown, "internal");
    error.source ??= name;
    throw error;
  }
}

const SUMMARIZE_OPTIONS = [
  "name",
  "complete",
  "signal",
  "onProgress",
  "memoryLimit",
  ...RULES,
] as const satisfies readonly (keyof SummarizeOptions)[];

export function createRanks<S>(reader: Reader<S>): Ranks<S> {
  async function summarize(source: S, options: SummarizeOptions = {}): Promise<Uint8Array> {
    const { name, complete, ...reading } = checks.options(options, SUMMARIZE_OPTIONS);
    checks.openOptions(reading);
    if (name !== undefined) checks.text("name", name);
    const input = await reader.input(source, reading.signal);
    const from = await bytesOr(input, reading.signal, MAGIC);
    if (from instanceof Uint8Array) return checked(from, input.name);
    const { engine, bytes } = await reader.trace(from, reading);
    return using(engine, (trace) => trace.summarize(name ?? input.name, complete ? undefined : bytes));
  }

  async function openRun(sources: readonly S[], options: RunOptions = {}): Promise<Run> {
    const { signal, onProgress, memoryLimit, notes = [], ...rest } = runOptions(sources, options);
    check(signal);
    await reader.ready();
    const run = new EngineRun();
    try {
      const add = ({ code, message }: SourceNote): void => run.note(code === "skipped", message);
      notes.forEach(add);
      const failures: unknown[] = [];
      const sum = { bytes: 0, events: 0 };
      for (const [at, source] of sources.entries()) {
        let last = { bytes: 0, events: 0 };
        const report = (done: number): void => {
          const { bytes, events } = { bytes: sum.bytes + last.bytes, events: sum.events + last.events };
          onProgress?.({ done, total: sources.length, bytes, events });
        };
        const progress = (now: Progress): void => ((last = now), report(at));
        try {
          const reading = { signal, memoryLimit, ...rulesOf(rest), onProgress: progress };
          const file = await summarize(source, { ...reading, complete: true });
          guarded(() => run.add(file));
        } catch (thrown) {
          // A value that is no error of this package was thrown by the caller's `onProgress`.
          if (!(thrown instanceof KinetoscopeError) || thrown.code === "internal") throw thrown;
          add(noteOf(thrown, `source ${at + 1}`));
          failures.push(thrown);
        }
        sum.bytes += last.bytes;
        sum.events += last.events;
        last = { bytes: 0, events: 0 };
        report(at + 1);
      }
      if (failures.length === sources.length) throw noRank(failures);
      return new Run(run);
    } catch (thrown) {
      run.free();
      throw thrown;
    }
  }

  async function merge(sources: readonly S[], options: MergeOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const ranks = mergeOptions(sources, options);
    const { signal, memoryLimit } = options;
    check(signal);
    await reader.ready();
    const names = new Set<string>();
    const run = new EngineRun();
    let merging: EngineMerging;
    try {
      for (const source of sources) {
        const input = await reader.input(source, signal);
        const name = unusedName(input.name, names);
        names.add(name);
        const from = await bytesOr(input, signal, MAGIC);
        if (from instanceof Uint8Array) {
          throw new KinetoscopeError("bad_source", `${name}: a summary has no events to merge`);
        }
        const { engine } = await reader.trace(from, { signal, memoryLimit });
        const file = using(engine, (trace) => trace.summarize(name, undefined));
        guarded(() => run.add(file));
      }
      merging = guarded(() => (run.finish(), run.merging(ranks && Float64Array.from(ranks))));
    } finally {
      run.free();
    }
    return streamOf(merged(merging, sources, [...names], { signal, memoryLimit }));
  }

  /** Yields the merged trace in pieces. */
  async function* merged(
    merging: EngineMerging,
    sources: readonly S[],
    names: readonly string[],
    options: Pick<MergeOptions, "signal" | "memoryLimit">,
  ): AsyncGenerator<Uint8Array> {
    let ended = false;
    try {
      for (const [at, source] of sources.entries()) {
        const name = names[at] as string;
        if (!merging.includes(name)) continue;
        const { engine } = await reader.trace(await reader.input(source, options.signal), options);
        for (const piece of using(engine, (trace) => merging.add(trace, name)) as Uint8Array[]) {
          check(options.signal);
          yield piece;
        }
      }
      // `finish` frees it.
      ended = true;
      yield* guarded(() => merging.finish()) as Uint8Array[];
    } finally {
      if (!ended) merging.free();
    }
  }

  return { openRun, summarize, merge };
}

/** Returns a name that no other source has. */
function unusedName(name: string, used: ReadonlySet<string>): string {
  if (!used.has(name)) return name;
  let number = 2;
  while (used.has(`${name} (${number})`)) number += 1;
  return `${name} (${number})`;
}
