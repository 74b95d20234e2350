// Sources of traces, as chunks of bytes.

import { bytesOf, chunksOf, classOf, isChunked, type Chunked } from "./chunks.js";
import { KinetoscopeError, asError, check } from "./errors.js";

/**
 * The sources that `open` accepts on every platform. A string is a URL that is fetched; in Node it is a path. Streams of Node are
 * `AsyncIterable`s. A `Request` is fetched, unless its method is another one than GET.
 */
export type Source =
  | Blob
  | Response
  | Request
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | ArrayBuffer
  | ArrayBufferView
  | URL
  | string;

/** The bytes of one trace. */
export interface Input {
  name: string;
  /** The number of bytes, if it is known. */
  size: number | undefined;
  /** Returns the bytes, from an offset if `canRepeat`. They end with an error when the signal is aborted. */
  chunks(from: number, signal: AbortSignal | undefined): AsyncIterable<Uint8Array>;
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
  const all = bytesOf(source);
  if (all) return bytes(all);
  if (typeof source === "string") return fetched(source, signal);
  switch (classOf(source)) {
    case "Blob":
    case "File":
      return blob(source as Blob);
    case "Response":
      return response(source as Response);
    case "Request":
      return fetched(fetchable(source as Request), signal);
    case "URL":
      return fetched(source as URL, signal);
  }
  return isChunked(source) ? once("stream", undefined, source) : undefined;
}

/** Whether the bytes of a source can be read only once. */
export function isReadOnce(source: unknown): boolean {
  return ["Response", "Request"].includes(classOf(source)) || (isChunked(source) && !bytesOf(source));
}

function bytes(all: Uint8Array): Input {
  async function* slices(from: number): AsyncIterable<Uint8Array> {
    for (let at = from; at < all.length; at += SLICE) yield all.subarray(at, at + SLICE);
  }
  return { name: "bytes", size: all.length, chunks: slices, canRepeat: true };
}

function blob(blob: Blob): Input {
  const name = "name" in blob ? String(blob.name) : "blob";
  // Slices take four times as long in Chromium.
  const stream = (from: number): Chunked => (from > 0 ? blob.slice(from) : blob).stream();
  return {
    name,
    size: blob.size,
    chunks: (from, signal) => chunksOf(stream(from), signal),
    canRepeat: true,
    ownsChunks: true,
  };
}

function once(name: string, size: number | undefined, source: Chunked): Input {
  return { name, size, chunks: (_, signal) => chunksOf(source, signal), canRepeat: false };
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

/** A server that passes a request on wants its body. To fetch the address of such a request would let its sender choose an address. */
function fetchable(request: Request): Request {
  if (request.method === "GET") return request;
  throw new KinetoscopeError(
    "bad_source",
    `cannot read a trace from a Request with the method ${request.method}: pass its body, or the response of fetch`,
  );
}

async function fetched(place: Request | URL | string, signal: AbortSignal | undefined): Promise<Input> {
  try {
    return response(await fetch(place, signal ? { signal } : {}));
  } catch (thrown) {
    check(signal);
    const error = asError(thrown, "io");
    error.source ??= lastPart(typeof place === "object" && "url" in place ? place.url : String(place));
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
