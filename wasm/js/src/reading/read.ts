// Reads traces from sources.

import type { EngineTrace } from "../generated/glue/engine.js";
import { KinetoscopeError, asError, check, guarded } from "../base/errors.js";
import { isStale } from "../base/instances.js";
import { Feeder, isGzip, peek } from "./feeder.js";
import { ParallelFeeder } from "./parallel.js";
import { parsersFor } from "../parse-worker/pool.js";
import type { Gunzip } from "../parse-worker/messages.js";
import type {
  EngineReading,
  Fed,
  FeedOptions,
  ReadCounts,
  Reader,
  ReadingRules,
  ReadOptions,
  StepOf,
} from "../options/open.js";
import type { PreviewSummary } from "../generated/queries.js";
import type { Input } from "../base/source.js";

/** The size in bytes from which parse workers are used. Starting them takes as long as reading a trace of this size. */
const LARGE = 2 << 20;

/** The default of `memoryLimit` in bytes. */
export const DEFAULT_LIMIT = 3 * 2 ** 30;

/** Feeds a reader with a file. */
async function feed(
  reading: Fed,
  feeder: Feeder,
  gunzip: Gunzip | undefined,
  parallel: ParallelFeeder | undefined,
): Promise<void> {
  const [head, chunks] = await peek(feeder.chunks());
  const feedFile = (chunk: Uint8Array): void => reading.feed(chunk);
  if (!gunzip || !isGzip(head)) {
    feeder.keepNone();
    return parallel?.parses ? parallel.feed(feeder.pieces(chunks), feedFile) : feeder.feed(chunks, feedFile);
  }
  const feedText = (chunk: Uint8Array): void => reading.feed_text(chunk);
  const inflating = { failed: false };
  if (parallel) await parallel.feed(until(inflating, parallel.inflate(chunks, gunzip)), feedText);
  else await feeder.feed(until(inflating, gunzip(chunks)), feedText);
  if (feeder.failure) throw feeder.failure;
  if (reading.is_full() || (!inflating.failed && feeder.isComplete())) return;
  // Damaged, truncated, with several members or trailing bytes: the engine decompresses the file itself and counts
  // defects.
  reading.start_over();
  await feeder.feed(feeder.again(), feedFile);
}

/** Yields what was decompressed until that fails. */
async function* until<T>(inflating: { failed: boolean }, inflated: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* inflated;
  } catch {
    inflating.failed = true;
  }
}

/** A trace that was read. */
export interface ReadTrace<E = EngineTrace> {
  engine: E;
  /** The size of the file. */
  bytes: number;
}

/** Feeds a reader with an input, and returns what `finish` makes of it with the size of the file. */
export async function readWith<E>(
  reading: Fed,
  input: Input,
  { gunzip, parseWorkers }: Reader,
  options: FeedOptions,
  finish: () => E,
): Promise<ReadTrace<E>> {
  let ended = false;
  try {
    const feeder = new Feeder(reading, input, options, gunzip);
    const { parses: what = "events" } = options;
    const threads = reading.splice ? (options.threads ?? parsersFor(parseWorkers?.processors ?? 0, what)) : 0;
    const isLarge = input.size === undefined || input.size >= LARGE;
    const isParallel = parseWorkers && isLarge && options.threads !== 0 && (threads > 0 || parseWorkers.inflates);
    await feed(
      reading,
      feeder,
      gunzip,
      isParallel ? new ParallelFeeder(reading, feeder, parseWorkers, { threads, what }) : undefined,
    );
    check(options.signal);
    feeder.reportProgress();
    ended = true;
    const engine = guarded(finish);
    return { engine, bytes: feeder.bytes };
  } catch (thrown) {
    const error = isStale(thrown) ? asError(thrown, "internal") : thrown;
    // Other values were thrown by the caller's `onProgress`.
    if (error instanceof KinetoscopeError) error.source ??= input.name;
    throw error;
  } finally {
    // `finish` frees the reading.
    if (!ended) reading.free();
  }
}

/** Ends the input of a reader, with rules. */
export function finishBy<E>(reading: Pick<EngineReading<E>, "finish">, rules: ReadingRules): E {
  const { torchVersion, kernelRules, stepRules, stepsFrom } = rules;
  return reading.finish(torchVersion, kernelRules, stepRules, stepsFrom && stepOf(stepsFrom));
}

function stepOf(stepsFrom: RegExp): StepOf {
  const expression = new RegExp(stepsFrom.source, stepsFrom.flags.replace(/[gy]/g, ""));
  return (name) => {
    const groups = expression.exec(name);
    return groups ? ["phase", "batch", "tokens", "number"].map((group) => groups.groups?.[group]) : undefined;
  };
}

/** Reads a trace with the reader that `create` makes for a memory limit. */
export function read<E>(
  create: (memoryLimit: number) => EngineReading<E>,
  input: Input,
  reader: Reader,
  { memoryLimit = DEFAULT_LIMIT, signal, threads, onProgress, ...rules }: ReadOptions,
): Promise<ReadTrace<E>> {
  const reading = create(memoryLimit);
  const onCounts =
    onProgress &&
    ((counts: ReadCounts): void => onProgress({ ...counts, preview: reading.preview()[0] as PreviewSummary }));
  return readWith(reading, input, reader, { signal, threads, onCounts }, () => finishBy(reading, rules));
}
