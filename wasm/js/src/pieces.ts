// Pieces of text: larger than the chunks of most sources, and with buffers of their own, so that they can be transferred.

/** The size of a piece in bytes. What the segments of a text have in common is parsed again in each. */
export const PIECE = 2 << 20;

/** Collects chunks to pieces. */
export async function* collect(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let piece = new Uint8Array(PIECE);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + PIECE - filled);
      piece.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < PIECE) break;
      yield piece;
      piece = new Uint8Array(PIECE);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
}

/** Values that were pushed and not taken yet. */
export class Queue<T> {
  private readonly values: T[] = [];
  private readonly waiting: ((value: T) => void)[] = [];

  push(value: T): void {
    const taker = this.waiting.shift();
    if (taker) taker(value);
    else this.values.push(value);
  }

  take(): Promise<T> {
    if (this.values.length > 0) return Promise.resolve(this.values.shift() as T);
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
