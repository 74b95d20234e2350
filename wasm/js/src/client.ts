// `open`, `repair` and what concerns several traces, independent of the platform.

import { Repairing, type EngineTrace } from "./glue/engine.js";
import { check, guarded, KinetoscopeError } from "./errors.js";
import { openOptions } from "./given.js";
import { createCheck, type Check } from "./budgets.js";
import { createDiff, type Diff } from "./diff.js";
import { createRanks, type Ranks, type Reader } from "./ranks.js";
import { read, type Gunzip, type OpenOptions } from "./read.js";
import type { Input } from "./source.js";
import { Trace } from "./trace.js";
import { createTrend, type Trend } from "./trend.js";

/** The parts that depend on the platform. */
export interface Platform<S> {
  /** Loads the engine. */
  ready(): Promise<unknown>;
  /** Returns the input of a source; `undefined` if it is not a source. */
  input(source: S, signal: AbortSignal | undefined): Promise<Input | undefined>;
  /** Decompresses gzip, if the platform can. */
  gunzip: Gunzip | undefined;
}

export interface Client<S> extends Ranks<S>, Diff<S>, Check<S>, Trend<S> {
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
  async function input(source: S, signal: AbortSignal | undefined): Promise<Input> {
    check(signal);
    await platform.ready();
    const input = await platform.input(source, signal);
    if (!input) throw new KinetoscopeError("bad_source", `cannot read a trace from ${describe(source)}`);
    return input;
  }

  async function one(source: S, options: OpenOptions<S>): Promise<Trace> {
    const { executionTrace, ...reading } = options;
    const from = await input(source, options.signal);
    const { engine, bytes } = await read(from, platform.gunzip, reading);
    try {
      if (executionTrace !== undefined) await join(engine, executionTrace, reading);
    } catch (thrown) {
      engine.free();
      throw thrown;
    }
    return new Trace(engine, from.name, bytes);
  }

  /** Joins an execution trace. */
  async function join(engine: EngineTrace, source: S, { signal, memoryLimit }: OpenOptions<S>): Promise<void> {
    const from = await input(source, signal);
    const other = await read(from, platform.gunzip, { signal, memoryLimit });
    try {
      guarded(() => engine.join(other.engine));
    } catch (thrown) {
      if (thrown instanceof KinetoscopeError) thrown.source ??= from.name;
      throw thrown;
    }
  }

  async function several(sources: readonly S[], options: OpenOptions<S>): Promise<Trace[]> {
    const traces: Trace[] = [];
    try {
      for (const source of sources) traces.push(await one(source, options));
      return traces;
    } catch (thrown) {
      for (const trace of traces) trace.dispose();
      throw thrown;
    }
  }

  function open(source: S, options?: OpenOptions<S>): Promise<Trace>;
  function open(sources: readonly S[], options?: OpenOptions<S>): Promise<Trace[]>;
  async function open(source: S | readonly S[], options: OpenOptions<S> = {}): Promise<Trace | Trace[]> {
    openOptions(options);
    return Array.isArray(source) ? several(source as readonly S[], options) : one(source as S, options);
  }

  async function repair(source: S, options: Pick<OpenOptions, "signal"> = {}): Promise<ReadableStream<Uint8Array>> {
    const { signal } = options;
    const from = await input(source, signal);
    const chunks = from.chunks()[Symbol.asyncIterator]();
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

  const reader: Reader<S> = {
    ready: () => platform.ready(),
    input,
    trace: (from, options) => read(from, platform.gunzip, options),
  };
  return {
    open,
    repair,
    ...createRanks(reader),
    ...createDiff(reader),
    ...createCheck(reader),
    ...createTrend(reader),
  };
}

function describe(source: unknown): string {
  if (source === null || typeof source !== "object") return String(source);
  return `an object of type ${source.constructor?.name ?? "Object"}`;
}
