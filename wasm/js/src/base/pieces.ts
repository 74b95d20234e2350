// Pieces of text: larger than the chunks of most sources, as lists of chunks whose buffers can be transferred.

/** The size of a piece in bytes. What the segments of a text have in common is parsed again in each. */
export const PIECE = 2 << 20;

export type Piece = Uint8Array<ArrayBuffer>[];

/** Copies chunks to pieces of one chunk each. */
export async function* collect(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  let piece = new Uint8Array(PIECE);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + PIECE - filled);
      piece.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < PIECE) break;
      yield [piece];
      piece = new Uint8Array(PIECE);
      filled = 0;
    }
  }
  if (filled > 0) yield [piece.subarray(0, filled)];
}

/** Puts chunks into pieces without a copy. Each chunk must be the only view of its buffer. */
export async function* gather(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  let piece: Piece = [];
  let size = 0;
  for await (const chunk of chunks) {
    piece.push(chunk as Uint8Array<ArrayBuffer>);
    size += chunk.length;
    if (size < PIECE) continue;
    yield piece;
    piece = [];
    size = 0;
  }
  if (piece.length > 0) yield piece;
}

/** Returns the buffers of a piece. */
export const buffersOf = (piece: Piece): ArrayBuffer[] => piece.map(({ buffer }) => buffer);

/** Returns a copy of all bytes of some chunks. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** Yields the bytes of a piece from one position to another. */
export function* between(piece: Piece, from: number, to: number): Generator<Uint8Array> {
  let at = 0;
  for (const chunk of piece) {
    const part = chunk.subarray(Math.max(from - at, 0), Math.max(to - at, 0));
    if (part.length > 0) yield part;
    at += chunk.length;
  }
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
