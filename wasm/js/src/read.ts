// Reads traces: feeds the bytes of a source to the engine.

import type { EngineTrace, Reading } from "./glue/engine.js";
import { KinetoscopeError, asError, check, guarded } from "./errors.js";
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
   * The execution trace that was recorded with the trace: `events` and the export `execution-trace` then have its inputs,
   * outputs, tensor ids and storages. With several sources, it is joined to each.
   */
  executionTrace?: S | undefined;
}

/** Decompresses gzip. Throws errors of the input and errors of the compressed data alike. */
export type Gunzip = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** The reader of an engine, which makes a trace `E`. */
export interface EngineReading<E> extends Omit<Reading, "finish"> {
  finish(torchVersion: string | undefined, kernelRules: string | undefined): E;
}

const DEFAULT_LIMIT = 3 * 2 ** 30;
const TICK_MS = 100;
const HEAD = 4;

/** The state of reading a source. */
class Feeder {
  bytes = 0;
  /** The last four bytes of the file: in gzip, the length of the text. */
  private tail = new Uint8Array(0);
  private readonly kept: Uint8Array[] = [];
  private ticked = performance.now();
  /** The error of the source. */
  failure: unknown;

  constructor(
    private readonly reading: EngineReading<unknown>,
    private readonly input: Input,
    private readonly options: Omit<OpenOptions, "executionTrace">,
  ) {}

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

  /** Feeds all chunks until the memory limit is reached. */
  async feed(chunks: AsyncIterable<Uint8Array>, feedChunk: (chunk: Uint8Array) => void): Promise<void> {
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

  /** Yields the chunks of the file and counts their bytes; `keep` stores them if the source cannot be read again. */
  async *chunks(keep: boolean): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.fromSource(this.input.chunks())) {
      this.bytes += chunk.length;
      this.tail = lastBytes(this.tail, chunk);
      if (keep && !this.input.canRepeat) this.kept.push(chunk);
      yield chunk;
    }
  }

  /** Yields the chunks of the file again. */
  async *again(): AsyncGenerator<Uint8Array> {
    if (this.input.canRepeat) yield* this.fromSource(this.input.chunks());
    else yield* this.kept;
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

async function feed(reading: EngineReading<unknown>, feeder: Feeder, gunzip: Gunzip | undefined): Promise<void> {
  const [head, chunks] = await peek(feeder.chunks(gunzip !== undefined));
  if (!gunzip || !isGzip(head)) return feeder.feed(chunks, (chunk) => reading.feed(chunk));
  let gaveUp = false;
  async function* inflated(inflate: Gunzip): AsyncGenerator<Uint8Array> {
    try {
      yield* inflate(chunks);
    } catch {
      gaveUp = true;
    }
  }
  await feeder.feed(inflated(gunzip), (piece) => reading.feed_text(piece));
  if (feeder.failure) throw feeder.failure;
  if (reading.is_full() || (!gaveUp && feeder.isComplete())) return;
  // Damaged, truncated, with several members or trailing bytes: the engine decompresses the file itself and counts
  // defects.
  reading.start_over();
  await feeder.feed(feeder.again(), (chunk) => reading.feed(chunk));
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
  gunzip: Gunzip | undefined,
  options: Omit<OpenOptions, "executionTrace">,
): Promise<ReadTrace<E>> {
  const reading = create(options.memoryLimit ?? DEFAULT_LIMIT);
  let ended = false;
  try {
    const feeder = new Feeder(reading, input, options);
    await feed(reading, feeder, gunzip);
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
