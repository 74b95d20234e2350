// `open`, `repair` and what concerns several traces, independent of the platform.

import { Reading, Repairing, type EngineTrace } from "../generated/glue/engine.js";
import { check, guarded, KinetoscopeError } from "../base/errors.js";
import * as checks from "../options/checks.js";
import { createCheck, type Check } from "./budgets.js";
import { createDiff, type Diff } from "./diff.js";
import { createRanks, type Ranks, type Reader } from "./ranks.js";
import { createOutlines, type Outlines } from "./outline.js";
import { inputOf, openEach, type Platform } from "../reading/open.js";
import type { OpenOptions, ReadOptions } from "../options/open.js";
import { read } from "../reading/read.js";
import type { Input } from "../base/source.js";
import { Trace } from "./trace.js";
import { createTrend, type Trend } from "./trend.js";

export interface Client<S> extends Ranks<S>, Diff<S>, Check<S>, Trend<S>, Outlines<S> {
  /**
   * Reads a trace. An array of sources gives an array of traces in the same order.
   *
   * @throws {KinetoscopeError} if the source cannot be read or is not a trace. A damaged or truncated trace is not an
   * error: see `diagnostics`.
   */
  open(source: S, options?: OpenOptions<S>): Promise<Trace>;
  open(sources: readonly S[], options?: OpenOptions<S>): Promise<Trace[]>;
  /**
   * Writes a valid trace from a damaged one, as UTF-8 bytes, in one pass: only the current event is in memory.
   *
   * @throws {KinetoscopeError} if the source cannot be read; the stream fails if the source is not a trace.
   */
  repair(source: S, options?: Pick<OpenOptions, "signal">): Promise<ReadableStream<Uint8Array>>;
}

export function createClient<S>(platform: Platform<S>): Client<S> {
  const input = (source: S, signal: AbortSignal | undefined): Promise<Input> => inputOf(platform, source, signal);
  const reader = (memoryLimit: number): Reading => new Reading(memoryLimit);
  // Traces of which only a part is kept are read without parse workers: often several are read at the same time.
  const alone = { gunzip: platform.gunzip };

  async function one(source: S, options: OpenOptions<S>): Promise<Trace> {
    const { executionTrace, captures = [], provenance = [], ...reading } = options;
    const from = await input(source, options.signal);
    const { engine, bytes } = await read(reader, from, platform, reading);
    try {
      if (executionTrace !== undefined) await join(executionTrace, reading, (other) => engine.join(other));
      await joinCaptures(engine, captures, reading);
      if (provenance.length > 0) await joinProvenance(engine, provenance, reading);
    } catch (thrown) {
      engine.free();
      throw thrown;
    }
    return new Trace(engine, from.name, bytes);
  }

  /** Joins captures. An engine writes one for each size of a batch: those of no launch are left out, unless all are. */
  async function joinCaptures(engine: EngineTrace, captures: readonly S[], reading: ReadOptions): Promise<void> {
    const refused: KinetoscopeError[] = [];
    for (const capture of captures) {
      try {
        await join(capture, reading, (other) => engine.joinCapture(other));
      } catch (thrown) {
        if (!(thrown instanceof KinetoscopeError) || thrown.code !== "bad_option") throw thrown;
        refused.push(thrown);
      }
    }
    if (refused.length > 0 && refused.length === captures.length) throw refused[0];
  }

  /** Joins files that say where kernels come from. */
  async function joinProvenance(engine: EngineTrace, sources: readonly S[], { signal }: ReadOptions): Promise<void> {
    const names: string[] = [];
    const files: Uint8Array[] = [];
    for (const source of sources) {
      const from = await input(source, signal);
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      for await (const chunk of from.chunks(0, signal)) chunks.push(chunk.slice());
      names.push(from.name);
      files.push(new Uint8Array(await new Blob(chunks).arrayBuffer()));
    }
    guarded(() => engine.joinProvenance(names, files));
  }

  /** Joins another trace by `to`, which takes ownership of it. */
  async function join(
    source: S,
    { signal, memoryLimit }: ReadOptions,
    to: (other: EngineTrace) => void,
  ): Promise<void> {
    const from = await input(source, signal);
    const other = await read(reader, from, alone, { signal, memoryLimit });
    try {
      guarded(() => to(other.engine));
    } catch (thrown) {
      if (thrown instanceof KinetoscopeError) thrown.source ??= from.name;
      throw thrown;
    }
  }

  function open(source: S, options?: OpenOptions<S>): Promise<Trace>;
  function open(sources: readonly S[], options?: OpenOptions<S>): Promise<Trace[]>;
  async function open(source: S | readonly S[], options: OpenOptions<S> = {}): Promise<Trace | Trace[]> {
    checks.openOptions(options);
    return openEach(source, (each) => one(each, options));
  }

  async function repair(source: S, options: Pick<OpenOptions, "signal"> = {}): Promise<ReadableStream<Uint8Array>> {
    const { signal } = checks.options(options, ["signal"]);
    const from = await input(source, signal);
    const chunks = from.chunks(0, signal)[Symbol.asyncIterator]();
    const repairing = new Repairing();
    let ended = false;
    const free = (): void => {
      if (!ended) repairing.free();
      ended = true;
    };
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          for (;;) {
            check(signal);
            const { done, value } = await chunks.next();
            if (done) {
              ended = true;
              controller.enqueue(guarded(() => repairing.finish()));
              return controller.close();
            }
            const text = guarded(() => repairing.feed(value));
            if (text.length > 0) return controller.enqueue(text);
          }
        } catch (thrown) {
          free();
          throw thrown;
        }
      },
      async cancel() {
        free();
        await chunks.return?.(undefined);
      },
    });
  }

  const ranks: Reader<S> = {
    ready: () => platform.ready(),
    input,
    trace: (from, options) => read(reader, from, alone, options),
  };
  return {
    open,
    repair,
    ...createRanks(ranks),
    ...createDiff(ranks),
    ...createCheck(ranks),
    ...createTrend(ranks),
    ...createOutlines(platform),
  };
}
