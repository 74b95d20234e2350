// Decompresses gzip with the web platform.

import type { Gunzip } from "../parse-worker/messages.js";

/** Uses `DecompressionStream`; `undefined` if the platform has none. */
export const gunzip: Gunzip | undefined =
  typeof DecompressionStream === "undefined" ? undefined : (chunks) => inflate(chunks, new DecompressionStream("gzip"));

/** The compressed bytes that are decompressed at once: all that they become is produced before the first of it is read. */
const STEP = 1 << 16;

async function* inflate(chunks: AsyncIterable<Uint8Array>, stream: DecompressionStream): AsyncGenerator<Uint8Array> {
  const writer = stream.writable.getWriter();
  const reader = (stream.readable as ReadableStream<Uint8Array>).getReader();
  const source = chunks[Symbol.asyncIterator]();
  const pump = async (): Promise<void> => {
    try {
      for (;;) {
        const { done, value } = await source.next();
        if (done) return await writer.close();
        for (let at = 0; at < value.length; at += STEP) {
          await writer.ready;
          // `ready` is awaited instead; a failed write also makes the reader fail.
          writer.write(value.subarray(at, at + STEP) as Uint8Array<ArrayBuffer>).catch(() => undefined);
        }
      }
    } catch (thrown) {
      await writer.abort(thrown).catch(() => undefined);
    }
  };
  const pumping = pump();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
    await source.return?.(undefined);
    await pumping;
  }
}
