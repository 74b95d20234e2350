// Decompresses gzip with the web platform.

import type { Gunzip } from "./helping.js";

/** Uses `DecompressionStream`; `undefined` if the platform has none. */
export const gunzip: Gunzip | undefined =
  typeof DecompressionStream === "undefined" ? undefined : (chunks) => inflate(chunks, new DecompressionStream("gzip"));

async function* inflate(chunks: AsyncIterable<Uint8Array>, stream: DecompressionStream): AsyncGenerator<Uint8Array> {
  const writer = stream.writable.getWriter();
  const reader = (stream.readable as ReadableStream<Uint8Array>).getReader();
  const source = chunks[Symbol.asyncIterator]();
  const pump = async (): Promise<void> => {
    try {
      for (;;) {
        await writer.ready;
        const { done, value } = await source.next();
        if (done) return await writer.close();
        // `ready` is awaited instead; a failed write also makes the reader fail.
        writer.write(value as Uint8Array<ArrayBuffer>).catch(() => undefined);
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
