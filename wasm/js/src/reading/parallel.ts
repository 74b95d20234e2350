// Feeds the bytes of a source to a reader, from threads that parse and decompress.

import { guarded } from "../base/errors.js";
import type { Feeder } from "./feeder.js";
import { gunzipIn, Parsers } from "../parse-worker/pool.js";
import type { Gunzip, ParseWorkers, ParsedPiece, Parses } from "../parse-worker/messages.js";
import type { Fed } from "../options/open.js";
import { between, collect, type Piece } from "../base/pieces.js";

/** Feeds a reader from parse workers. */
export class ParallelFeeder {
  constructor(
    private readonly reading: Fed,
    private readonly feeder: Feeder,
    private readonly parseWorkers: ParseWorkers,
    private readonly parsing: { threads: number; what: Parses },
  ) {}

  /** Whether threads parse. */
  get parses(): boolean {
    return this.parsing.threads > 0;
  }

  /** Feeds pieces: the first one with `feedChunk`, the others once they were parsed, if threads parse and the format allows. */
  async feed(pieces: AsyncGenerator<Piece>, feedChunk: (chunk: Uint8Array) => void): Promise<void> {
    const { reading, feeder } = this;
    const starting = this.start();
    try {
      const first = await pieces.next();
      if (first.done) return;
      const feedPiece = (piece: Piece): void => piece.forEach(feedChunk);
      guarded(() => feedPiece(first.value));
      const parsers = reading.takes_segments?.() ? await starting : undefined;
      if (parsers) await feeder.feed(parsers.parse(pieces), (piece) => this.feedParsed(piece));
      else await feeder.feed(pieces, feedPiece);
    } finally {
      await pieces.return(undefined);
      void starting.then(
        (parsers) => parsers?.end(),
        () => undefined,
      );
    }
  }

  /** Decompresses, in a thread if the platform has none for it. */
  inflate(chunks: AsyncIterable<Uint8Array>, gunzip: Gunzip): AsyncGenerator<Piece> {
    const { spawn, inflates } = this.parseWorkers;
    return inflates ? gunzipIn(spawn, chunks) : collect(gunzip(chunks));
  }

  private async start(): Promise<Parsers | undefined> {
    const { spawn, code } = this.parseWorkers;
    const { threads, what } = this.parsing;
    return this.parses ? Parsers.start(spawn, await code(), what, threads) : undefined;
  }

  private feedParsed({ text, segment }: ParsedPiece): void {
    const feedText = (from: number, to: number): void => {
      for (const part of between(text, from, to)) this.reading.feed_text(part);
    };
    if (!segment) return feedText(0, Infinity);
    feedText(0, segment.start);
    if (!this.reading.splice?.(segment.bytes)) feedText(segment.start, segment.end);
    feedText(segment.end, Infinity);
  }
}
