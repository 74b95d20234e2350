// Reads traces: feeds the bytes of a source to the engine.

import type { EngineTrace, Reading } from "./glue/engine.js";
import { KinetoscopeError, asError, check, guarded } from "./errors.js";
import { gunzipIn, Parsers, parsersFor } from "./helpers.js";
import type { Gunzip, Helping, ParsedPiece } from "./helping.js";
import { between, collect, gather, type Piece } from "./pieces.js";
import type { Input, Source } from "./source.js";
import type { PreviewSummary } from "./queries.js";

export interface Progress {
  /** Bytes of the source that were read, before decompression. */
  bytes: number;
  /** The size of the source in bytes, if it is known. */
  totalBytes: number | undefined;
  /** Bytes of decompressed text that were read. */
  textBytes: number;
  /** Events that were read. */
  events: number;
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
   * The largest amount of memory that the trace and an analysis of it may use, in bytes; 3 GiB by default. At the limit
   * the reader stops and keeps the events that it has read; the diagnostics contain the code `memory_limit`.
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
   * With `kinetoscope/worker`, and with helpers of `init`: how many threads parse a large trace, in addition to the one that holds it. By
   * default two less than there are processors, and at most 8; with 0, no thread helps. `kinetoscope` parses in its own thread.
   */
  threads?: number | undefined;
  /**
   * The execution trace that was recorded with the trace: `events` and the export `execution-trace` then have its inputs,
   * outputs, tensor ids and storages. With several sources, it is joined to each.
   */
  executionTrace?: S | undefined;
}

/** The methods of a reader that takes segments, which the small engine has not. */
type Splicing = Pick<Reading, "takes_segments" | "splice">;

/** The reader of an engine, which makes a trace `E`. */
export interface EngineReading<E> extends Omit<Reading, "finish" | keyof Splicing>, Partial<Splicing> {
  finish(torchVersion: string | undefined, kernelRules: string | undefined): E;
}

/** The parts of reading that depend on the platform. */
export interface Reader {
  gunzip: Gunzip | undefined;
  helping?: Helping | undefined;
}

/** The options of reading one source. */
type ReadOptions = Omit<OpenOptions, "executionTrace">;

/** The size in bytes from which threads help. Starting them takes as long as reading a trace of this size. */
const LARGE = 2 << 20;

const DEFAULT_LIMIT = 3 * 2 ** 30;
const TICK_MS = 100;
const HEAD = 4;

/** The state of reading a source. */
class Feeder {
  bytes = 0;
  /** The last four bytes of the file: in gzip, the length of the text. */
  private tail = new Uint8Array(0);
  private kept: Uint8Array[] | undefined;
  private ticked = performance.now();
  /** The error of the source. */
  failure: unknown;

  constructor(
    private readonly reading: EngineReading<unknown>,
    private readonly input: Input,
    private readonly options: ReadOptions,
    gunzip: Gunzip | undefined,
  ) {
    if (gunzip && !input.canRepeat) this.kept = [];
  }

  reportProgress(): void {
    const { reading, input, options } = this;
    options.onProgress?.({
      bytes: this.bytes,
      totalBytes: input.size,
      textBytes: reading.text_bytes(),
      events: reading.events(),
      preview: reading.preview()[0] as PreviewSummary,
    });
  }

  /** Feeds all chunks or parsed pieces until the memory limit is reached. */
  async feed<T>(chunks: AsyncIterable<T>, feedChunk: (chunk: T) => void): Promise<void> {
    for await (const chunk of chunks) {
      guarded(() => feedChunk(chunk));
      if (this.reading.is_full()) return;
      await this.tick();
    }
  }

  /**
   * Runs between chunks: reports progress and yields to the event loop now and then, so that an abort can arrive.
   */
  private async tick(): Promise<void> {
    check(this.options.signal);
    if (performance.now() - this.ticked < TICK_MS) return;
    this.reportProgress();
    await new Promise((resolve) => setTimeout(resolve));
    check(this.options.signal);
    this.ticked = performance.now();
  }

  private async *fromSource(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (thrown) {
      check(this.options.signal);
      throw (this.failure = asError(thrown, "io"));
    }
  }

  /** Yields the chunks of the file and counts their bytes. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.fromSource(this.input.chunks())) {
      this.bytes += chunk.length;
      this.tail = lastBytes(this.tail, chunk);
      this.kept?.push(chunk);
      yield chunk;
    }
  }

  /** Puts the chunks of the file into pieces. */
  pieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
    return this.input.ownsChunks ? gather(chunks) : collect(chunks);
  }

  /** Keeps no chunks: the file is read once. */
  keepNone(): void {
    this.kept = undefined;
  }

  /** Yields the chunks of the file again. */
  async *again(): AsyncGenerator<Uint8Array> {
    if (this.kept) yield* this.kept;
    else yield* this.fromSource(this.input.chunks());
  }

  /** Whether the length of the text equals the length in the trailer of the last gzip member, modulo 2^32. */
  isComplete(): boolean {
    const tail = new DataView(this.tail.buffer, this.tail.byteOffset, this.tail.byteLength);
    return tail.byteLength === 4 && tail.getUint32(0, true) === this.reading.text_bytes() % 2 ** 32;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function lastBytes(before: Uint8Array, chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  return chunk.length >= 4 ? chunk.slice(-4) : joined(before, chunk).slice(-4);
}

/** Returns the first bytes of some chunks, and all of the chunks. */
export async function peek(iterable: AsyncIterable<Uint8Array>): Promise<[Uint8Array, AsyncGenerator<Uint8Array>]> {
  const chunks = iterable[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let head = new Uint8Array(0);
  while (head.length < HEAD) {
    const { done, value } = await chunks.next();
    if (done) break;
    first.push(value);
    head = joined(head, value.subarray(0, HEAD)).slice(0, HEAD);
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield* first;
      for (;;) {
        const { done, value } = await chunks.next();
        if (done) return;
        yield value;
      }
    } finally {
      await chunks.return?.(undefined);
    }
  }
  return [head, all()];
}

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b && head[2] === 8;
}

/** Feeds a reader with the help of threads. */
class Helped {
  constructor(
    private readonly reading: EngineReading<unknown>,
    private readonly feeder: Feeder,
    private readonly helping: Helping,
    private readonly threads: number,
  ) {}

  /** Feeds pieces: the first one with `feedChunk`, the others once they were parsed, if threads parse and the format allows. */
  async feed(pieces: AsyncGenerator<Piece>, feedChunk: (chunk: Uint8Array) => void): Promise<void> {
    const { reading, feeder } = this;
    const starting = this.start();
    try {
      const first = await pieces.next();
      if (first.done) return;
      const feedPiece = (piece: Piece): void => piece.forEach(feedChunk);
      guarded(() => feedPiece(first.value));
      const parsers = reading.takes_segments?.() ? await starting : undefined;
      if (parsers) await feeder.feed(parsers.parse(pieces), (piece) => this.feedParsed(piece));
      else await feeder.feed(pieces, feedPiece);
    } finally {
      await pieces.return(undefined);
      void starting.then((parsers) => parsers?.end());
    }
  }

  /** Decompresses, in a thread if the platform has none for it. */
  inflate(chunks: AsyncIterable<Uint8Array>, gunzip: Gunzip): AsyncGenerator<Piece> {
    const { spawn, inflates } = this.helping;
    return inflates ? gunzipIn(spawn, chunks) : collect(gunzip(chunks));
  }

  private async start(): Promise<Parsers | undefined> {
    const { spawn, code } = this.helping;
    return this.threads > 0 ? Parsers.start(spawn, await code(), this.threads) : undefined;
  }

  private feedParsed({ text, segment }: ParsedPiece): void {
    const feedText = (from: number, to: number): void => {
      for (const part of between(text, from, to)) this.reading.feed_text(part);
    };
    if (!segment) return feedText(0, Infinity);
    feedText(0, segment.start);
    if (!this.reading.splice?.(segment.bytes)) feedText(segment.start, segment.end);
    feedText(segment.end, Infinity);
  }
}

/** Feeds a reader with a file. */
async function feed(
  reading: EngineReading<unknown>,
  feeder: Feeder,
  gunzip: Gunzip | undefined,
  helped: Helped | undefined,
): Promise<void> {
  const [head, chunks] = await peek(feeder.chunks());
  const feedFile = (chunk: Uint8Array): void => reading.feed(chunk);
  if (!gunzip || !isGzip(head)) {
    feeder.keepNone();
    return helped ? helped.feed(feeder.pieces(chunks), feedFile) : feeder.feed(chunks, feedFile);
  }
  const feedText = (chunk: Uint8Array): void => reading.feed_text(chunk);
  const given = { up: false };
  if (helped) await helped.feed(until(given, helped.inflate(chunks, gunzip)), feedText);
  else await feeder.feed(until(given, gunzip(chunks)), feedText);
  if (feeder.failure) throw feeder.failure;
  if (reading.is_full() || (!given.up && feeder.isComplete())) return;
  // Damaged, truncated, with several members or trailing bytes: the engine decompresses the file itself and counts
  // defects.
  reading.start_over();
  await feeder.feed(feeder.again(), feedFile);
}

/** Yields what was decompressed until that fails. */
async function* until<T>(given: { up: boolean }, inflated: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* inflated;
  } catch {
    given.up = true;
  }
}

/** A trace that was read. */
export interface ReadTrace<E = EngineTrace> {
  engine: E;
  /** The size of the file. */
  bytes: number;
}

/** Reads a trace with the reader that `create` makes for a memory limit. */
export async function read<E>(
  create: (memoryLimit: number) => EngineReading<E>,
  input: Input,
  { gunzip, helping }: Reader,
  options: ReadOptions,
): Promise<ReadTrace<E>> {
  const reading = create(options.memoryLimit ?? DEFAULT_LIMIT);
  let ended = false;
  try {
    const feeder = new Feeder(reading, input, options, gunzip);
    const threads = options.threads ?? parsersFor(helping?.processors ?? 0);
    const isLarge = input.size === undefined || input.size >= LARGE;
    const helps = helping && isLarge && options.threads !== 0 && (threads > 0 || helping.inflates);
    await feed(reading, feeder, gunzip, helps ? new Helped(reading, feeder, helping, threads) : undefined);
    check(options.signal);
    feeder.reportProgress();
    ended = true;
    const engine = guarded(() => reading.finish(options.torchVersion, options.kernelRules));
    return { engine, bytes: feeder.bytes };
  } catch (thrown) {
    // Other values were thrown by the caller's `onProgress`.
    if (thrown instanceof KinetoscopeError) thrown.source ??= input.name;
    throw thrown;
  } finally {
    // `finish` frees the reading.
    if (!ended) reading.free();
  }
}
