// Files that are read at once: histories, summaries of ranks (`KSUM`) and profiles (`KPRF`).

import { KinetoscopeError } from "../base/errors.js";
import { peek } from "./feeder.js";
import { joined } from "../base/pieces.js";
import type { Input } from "../base/source.js";

/** The largest file that is read at once, in bytes. */
const LARGEST = 2 ** 30;

/** Returns the bytes of a file that begins with one of `magics`, or the input of another one. */
export async function bytesOr(
  input: Input,
  signal: AbortSignal | undefined,
  ...magics: readonly string[]
): Promise<Uint8Array | Input> {
  const [head, chunks] = await peek(input.chunks(0, signal));
  const begins = (magic: string): boolean => String.fromCharCode(...head.subarray(0, magic.length)) === magic;
  if (magics.some(begins)) return collect(chunks);
  if (!input.canRepeat) return { ...input, chunks: () => chunks };
  await chunks.return(undefined);
  return input;
}

/** Returns all bytes of a file. */
export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size > LARGEST) throw new KinetoscopeError("too_large", `the file has more than ${LARGEST} bytes`);
  }
  return joined(parts);
}
