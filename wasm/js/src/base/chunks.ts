// The chunks of streams and iterables, until they end or a signal is aborted.

import { aborted, check, KinetoscopeError } from "./errors.js";

/** What yields chunks. */
export type Chunked = ReadableStream<unknown> | AsyncIterable<unknown>;

/** The class of an object. Objects of other realms, such as frames and `node:vm`, are no instances of the classes here. */
export const classOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Returns the bytes of a buffer or of a view of one; `undefined` for other values. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return bytesWithin(value.buffer, value.byteOffset, value.byteLength);
  const isBuffer = classOf(value) === "ArrayBuffer" || classOf(value) === "SharedArrayBuffer";
  return isBuffer ? bytesWithin(value as ArrayBuffer) : undefined;
}

/** Other threads can change shared memory while it is read, so it is copied. */
function bytesWithin(buffer: ArrayBufferLike, ...place: [from?: number, length?: number]): Uint8Array {
  const bytes = new Uint8Array(buffer, ...place);
  return classOf(buffer) === "SharedArrayBuffer" ? new Uint8Array(bytes) : bytes;
}

export function isChunked(value: unknown): value is Chunked {
  return (
    classOf(value) === "ReadableStream" ||
    (typeof value === "object" && value !== null && Symbol.asyncIterator in value)
  );
}

/** How chunks are read one after the other. */
interface Reading {
  next(): Promise<IteratorResult<unknown>>;
  /** Ends what has not ended. */
  cancel(reason: unknown): void;
  release(): void;
}

function readingOf(source: Chunked): Reading {
  return classOf(source) === "ReadableStream"
    ? ofStream(source as ReadableStream<unknown>)
    : ofIterable(source as AsyncIterable<unknown>);
}

function ofStream(stream: ReadableStream<unknown>): Reading {
  const reader = stream.getReader();
  return {
    next: () => reader.read() as Promise<IteratorResult<unknown>>,
    cancel: (reason) => void reader.cancel(reason).catch(() => undefined),
    release: () => reader.releaseLock(),
  };
}

/** A stream of Node, which does not end while an iterator of it waits, unless it is destroyed. */
interface Destroyable {
  destroy(reason: Error | undefined): void;
  on(event: "error", listener: () => void): void;
}

function ofIterable(iterable: AsyncIterable<unknown>): Reading {
  const iterator = iterable[Symbol.asyncIterator]();
  const cancel = (reason: unknown): void => {
    if ("destroy" in iterable) {
      const stream = iterable as unknown as Destroyable;
      // The reason is also an event, which ends the process if nothing listens.
      stream.on("error", () => undefined);
      stream.destroy(reason instanceof Error ? reason : undefined);
    }
    void Promise.resolve(iterator.return?.(reason)).catch(() => undefined);
  };
  return { next: async () => iterator.next(), cancel, release: () => undefined };
}

function chunkOf(value: unknown): Uint8Array {
  const bytes = bytesOf(value);
  if (!bytes) throw new KinetoscopeError("bad_source", "the stream contains chunks that are not bytes");
  return bytes;
}

/** Yields the chunks of a source. The source is cancelled if the consumer stops early, and with the reason if the signal is aborted. */
export async function* chunksOf(source: Chunked, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const reading = readingOf(source);
  let stop: (error: unknown) => void = () => undefined;
  const abort = (): void => stop(aborted(signal as AbortSignal));
  signal?.addEventListener("abort", abort);
  let ended = false;
  try {
    for (;;) {
      check(signal);
      const { done, value } = await new Promise<IteratorResult<unknown>>((resolve, reject) => {
        stop = reject;
        reading.next().then(resolve, reject);
      });
      ended = done === true;
      if (ended) return;
      yield chunkOf(value);
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    if (!ended) reading.cancel(signal?.reason);
    reading.release();
  }
}
