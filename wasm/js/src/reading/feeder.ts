// Feeds the bytes of a source to a reader.

import { aborted, asError, check, guarded } from "../base/errors.js";
import type { Gunzip } from "../parse-worker/messages.js";
import type { Fed, FeedOptions } from "../options/open.js";
import { collect, gather, joined, type Piece } from "../base/pieces.js";
import type { Input } from "../base/source.js";

const TICK_MS = 100;
const HEAD = 4;

/** The state of reading a source. */
export class Feeder {
  bytes = 0;
  /** The last four bytes of the file: in gzip, the length of the text. */
  private tail = new Uint8Array(0);
  private kept: Uint8Array[] | undefined;
  private ticked = performance.now();
  /** The error of the source. */
  failure: unknown;

  constructor(
    private readonly reading: Fed,
    private readonly input: Input,
    private readonly options: FeedOptions,
    gunzip: Gunzip | undefined,
  ) {
    if (gunzip && !input.canRepeat) this.kept = [];
  }

  reportProgress(): void {
    const { reading, input, options } = this;
    options.onCounts?.({
      bytes: this.bytes,
      totalBytes: input.size,
      textBytes: reading.text_bytes(),
      events: reading.events(),
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
      const { signal } = this.options;
      throw (this.failure = signal?.aborted ? aborted(signal) : asError(thrown, "io"));
    }
  }

  /** Yields the chunks of the file and counts their bytes. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.fromSource(this.fromStart())) {
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
    else yield* this.fromSource(this.fromStart());
  }

  private fromStart(): AsyncIterable<Uint8Array> {
    return this.input.chunks(0, this.options.signal);
  }

  /** Whether the length of the text equals the length in the trailer of the last gzip member, modulo 2^32. */
  isComplete(): boolean {
    const tail = new DataView(this.tail.buffer, this.tail.byteOffset, this.tail.byteLength);
    return tail.byteLength === 4 && tail.getUint32(0, true) === this.reading.text_bytes() % 2 ** 32;
  }
}

function lastBytes(before: Uint8Array, chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  return chunk.length >= 4 ? chunk.slice(-4) : joined([before, chunk]).slice(-4);
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
    head = joined([head, value.subarray(0, HEAD)]).slice(0, HEAD);
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

export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b && head[2] === 8;
}
