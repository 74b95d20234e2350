// Files, and gzip with Node's zlib, which runs in a thread and uses larger chunks than DecompressionStream.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createGunzip } from "node:zlib";
import { chunksOf } from "../base/chunks.js";
import { asError } from "../base/errors.js";
import type { Gunzip } from "../parse-worker/messages.js";
import { inputOf as webInput, type Input, type Source } from "../base/source.js";

const CHUNK = 1 << 18;
/** Each piece of text takes a turn of the event loop and a buffer to collect, so pieces are larger than chunks of the file. */
const PIECE = 1 << 20;

/** Returns the input of a source. A string is a path unless it begins with `http:`, `https:` or `file:`. */
export async function inputOf(source: Source, signal: AbortSignal | undefined): Promise<Input | undefined> {
  if (source instanceof URL && source.protocol === "file:") return file(fileURLToPath(source));
  if (typeof source === "string" && source.startsWith("file:")) return file(fileURLToPath(source));
  if (typeof source === "string" && !/^https?:/.test(source)) return file(source);
  return webInput(source, signal);
}

async function file(path: string): Promise<Input> {
  const name = basename(path);
  try {
    const found = await stat(path);
    // A pipe has no size, and cannot be read again.
    const isFile = found.isFile();
    const stream = (start: number): Readable =>
      createReadStream(path, { highWaterMark: CHUNK, ...(isFile && { start }) });
    return {
      name,
      size: isFile ? found.size : undefined,
      chunks: (start, signal) => chunksOf(stream(start), signal),
      canRepeat: isFile,
    };
  } catch (thrown) {
    const error = asError(thrown, "io");
    error.source = name;
    throw error;
  }
}

export const gunzip: Gunzip = (chunks) => {
  const inflating = createGunzip({ chunkSize: PIECE });
  const compressed = Readable.from(chunks, { objectMode: true });
  compressed.on("error", (error) => inflating.destroy(error));
  inflating.on("close", () => compressed.destroy());
  return compressed.pipe(inflating);
};
