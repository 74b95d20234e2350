// Bytes into a trace: the one loop that feeds the engine.

import { Reading, type EngineTrace } from "./glue/engine.js";
import { KinetoscopeError, asError, check, guarded } from "./errors.js";
import type { Input } from "./source.js";
import type { PreviewSummary } from "./queries.js";

export interface Progress {
  /** Bytes of the source that were read, compressed as they are. */
  bytes: number;
  /** How many bytes the source has, where that is known. */
  totalBytes: number | undefined;
  /** Bytes of decompressed text that were read. */
  textBytes: number;
  /** Events that were read. */
  events: number;
  /** The first numbers. */
  preview: PreviewSummary;
}

export interface OpenOptions {
  /** Ends the reading; its memory is given back. */
  signal?: AbortSignal | undefined;
  /** Told about ten times a second, and at the end. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * The most memory that the trace may come to hold, in bytes; 3 GiB unless given. Past it the reader stops with what it
   * has, and the diagnostics say so with the code `memory_limit`.
   */
  memoryLimit?: number | undefined;
}

/** Undoes gzip. Errors of the input and those of the compression are thrown alike. */
export type Gunzip = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

const DEFAULT_LIMIT = 3 * 2 ** 30;
const TICK_MS = 100;
const HEAD = 3;

/** A reading in progress. */
class Feeding {
  private bytes = 0;
  /** The last bytes of the file: gzip's own count of the text. */
  private tail = new Uint8Array(0);
  private readonly kept: Uint8Array[] = [];
  private ticked = performance.now();
  /** What the source threw. */
  failure: unknown;

  constructor(
    private readonly reading: Reading,
    private readonly input: Input,
    private readonly options: OpenOptions,
  ) {}

  tell(): void {
    const { reading, input, options } = this;
    options.onProgress?.({
      bytes: this.bytes,
      totalBytes: input.size,
      textBytes: reading.text_bytes(),
      events: reading.events(),
      preview: reading.preview()[0] as PreviewSummary,
    });
  }

  /** Feeds all chunks, as long as there is room for them. */
  async feed(chunks: AsyncIterable<Uint8Array>, take: (chunk: Uint8Array) => void): Promise<void> {
    for await (const chunk of chunks) {
      guarded(() => take(chunk));
      if (this.reading.is_full()) return;
      await this.tick();
    }
  }

  /** Between chunks: lets the platform take its turn now and then, so that a signal can come through. */
  private async tick(): Promise<void> {
    check(this.options.signal);
    if (performance.now() - this.ticked < TICK_MS) return;
    this.tell();
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

  /** The chunks of the file, counted; `keep` those that cannot be had again. */
  async *chunks(keep: boolean): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.fromSource(this.input.chunks())) {
      this.bytes += chunk.length;
      this.tail = lastBytes(this.tail, chunk);
      if (keep && !this.input.canRepeat) this.kept.push(chunk);
      yield chunk;
    }
  }

  /** The chunks of the file once more. */
  async *again(): AsyncGenerator<Uint8Array> {
    if (this.input.canRepeat) yield* this.fromSource(this.input.chunks());
    else yield* this.kept;
  }

  /** Whether the text that was read is as long as gzip's last member says, in 32 bits. */
  isWhole(): boolean {
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

/** The first bytes of some chunks, and all of the chunks. */
async function peek(chunks: AsyncGenerator<Uint8Array>): Promise<[Uint8Array, AsyncGenerator<Uint8Array>]> {
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
      yield* chunks;
    } finally {
      await chunks.return(undefined);
    }
  }
  return [head, all()];
}

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b && head[2] === 8;
}

async function feed(reading: Reading, feeding: Feeding, gunzip: Gunzip | undefined): Promise<void> {
  const [head, chunks] = await peek(feeding.chunks(gunzip !== undefined));
  if (!gunzip || !isGzip(head)) return feeding.feed(chunks, (chunk) => reading.feed(chunk));
  let gaveUp = false;
  async function* text(inflate: Gunzip): AsyncGenerator<Uint8Array> {
    try {
      yield* inflate(chunks);
    } catch {
      gaveUp = true;
    }
  }
  await feeding.feed(text(gunzip), (piece) => reading.feed_text(piece));
  if (feeding.failure) throw feeding.failure;
  if (reading.is_full() || (!gaveUp && feeding.isWhole())) return;
  // Damaged, cut, of several members, or with something behind it: the engine's own rules say which, and count it.
  reading.start_over();
  await feeding.feed(feeding.again(), (chunk) => reading.feed(chunk));
}

/** Reads a trace. */
export async function read(input: Input, gunzip: Gunzip | undefined, options: OpenOptions): Promise<EngineTrace> {
  const limit = options.memoryLimit ?? DEFAULT_LIMIT;
  if (!(limit > 0)) throw new KinetoscopeError("bad_option", `memoryLimit: ${limit} is no number of bytes`);
  const reading = new Reading(limit);
  let ended = false;
  try {
    const feeding = new Feeding(reading, input, options);
    await feed(reading, feeding, gunzip);
    check(options.signal);
    feeding.tell();
    ended = true;
    return guarded(() => reading.finish());
  } catch (thrown) {
    // What else is thrown is the caller's own, from `onProgress`.
    if (thrown instanceof KinetoscopeError) thrown.source ??= input.name;
    throw thrown;
  } finally {
    // `finish` takes the reading with it.
    if (!ended) reading.free();
  }
}
