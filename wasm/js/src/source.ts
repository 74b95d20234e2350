// Sources of traces, as chunks of bytes.

import { KinetoscopeError, asError, check } from "./errors.js";

/** The sources that `open` accepts on every platform. A string is a URL that is fetched; in Node it is a path. */
export type Source = Blob | Response | Request | ReadableStream<Uint8Array> | ArrayBuffer | Uint8Array | URL | string;

/** The bytes of one trace. */
export interface Input {
  name: string;
  /** The number of bytes, if it is known. */
  size: number | undefined;
  /** Returns the bytes, from an offset if `canRepeat`. */
  chunks(from?: number): AsyncIterable<Uint8Array>;
  /** Whether `chunks` can be called again; if not, the bytes may have to be kept. */
  canRepeat: boolean;
  /** Whether each chunk is the only view of its buffer. */
  ownsChunks?: boolean;
}

const SLICE = 1 << 20;

/** Returns the last segment of a URL's path. */
function lastPart(place: string): string {
  const path = place.split(/[?#]/, 1)[0] ?? "";
  const part = path.slice(path.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(part) || place;
  } catch {
    return part;
  }
}

/** Returns the input of a source that every platform supports; `undefined` for other values. */
export async function inputOf(source: unknown, signal: AbortSignal | undefined): Promise<Input | undefined> {
  if (source instanceof Uint8Array) return bytes(source);
  if (source instanceof ArrayBuffer) return bytes(new Uint8Array(source));
  if (source instanceof Blob) return blob(source);
  if (source instanceof ReadableStream) return once("stream", undefined, source as ReadableStream<Uint8Array>);
  if (source instanceof Response) return response(source);
  if (source instanceof Request || source instanceof URL || typeof source === "string") {
    return fetched(source, signal);
  }
  return undefined;
}

function bytes(all: Uint8Array): Input {
  async function* slices(from = 0): AsyncIterable<Uint8Array> {
    for (let at = from; at < all.length; at += SLICE) yield all.subarray(at, at + SLICE);
  }
  return { name: "bytes", size: all.length, chunks: slices, canRepeat: true };
}

function blob(blob: Blob): Input {
  const name = blob instanceof File ? blob.name : "blob";
  // Slices take four times as long in Chromium.
  const chunks = (from = 0): AsyncIterable<Uint8Array> => read((from > 0 ? blob.slice(from) : blob).stream());
  return { name, size: blob.size, chunks, canRepeat: true, ownsChunks: true };
}

function once(name: string, size: number | undefined, stream: ReadableStream<Uint8Array>): Input {
  return { name, size, chunks: () => read(stream), canRepeat: false };
}

/** Yields the chunks of a stream, and cancels it if the consumer stops early. */
async function* read(stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = stream.getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        ended = true;
        return;
      }
      if (!(value instanceof Uint8Array)) {
        throw new KinetoscopeError("bad_source", "the stream contains chunks that are not Uint8Array");
      }
      yield value;
    }
  } finally {
    if (!ended) void reader.cancel().catch(() => undefined);
    reader.releaseLock();
  }
}

function response(response: Response): Input {
  const name = lastPart(response.url) || "response";
  if (!response.ok) {
    const error = new KinetoscopeError("http", `the server answered ${response.status} ${response.statusText}`.trim());
    error.source = name;
    throw error;
  }
  if (!response.body) return bytes(new Uint8Array());
  const encoded = response.headers.has("content-encoding");
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  return once(name, encoded || Number.isNaN(length) ? undefined : length, response.body);
}

async function fetched(place: Request | URL | string, signal: AbortSignal | undefined): Promise<Input> {
  try {
    return response(await fetch(place, signal ? { signal } : {}));
  } catch (thrown) {
    check(signal);
    const error = asError(thrown, "io");
    error.source ??= lastPart(place instanceof Request ? place.url : String(place));
    throw error;
  }
}

/** Returns chunks as a stream. */
export function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await iterator.return?.(undefined);
    },
  });
}
