// The parse workers of a trace that is being read: threads that parse pieces of its text, and one that decompresses.

import { asError, KinetoscopeError } from "../base/errors.js";
import type { ParseWorker, Order, ParsedPiece, Parses, Result, SpawnParseWorker } from "./messages.js";
import { buffersOf, Queue, type Piece } from "../base/pieces.js";
import { fromWire } from "../base/posted-error.js";

/** The number of pieces that each thread has or waits for. */
const AHEAD = 2;

/** The number of decompressed pieces that wait for the thread of the trace. */
const INFLATED_AHEAD = 4;

/** More threads would wait for the decompression. */
const MOST_PARSERS = 8;

/**
 * How many threads parse by default, with this many processors: one is for reading and decompressing, and one for the thread of the trace.
 * With two processors, passing the events from a thread takes as long as parsing them. Totals are small.
 */
export function parsersFor(processors: number, parses: Parses): number {
  const others = parses === "events" ? 2 : 1;
  return Math.min(Math.max(processors - others, 0), MOST_PARSERS);
}

interface Waiting {
  resolve(piece: ParsedPiece): void;
  reject(error: unknown): void;
}

/** A thread that parses. */
class Parser {
  private readonly thread: ParseWorker;
  /** The pieces that it has, in the order in which they were passed. */
  private readonly waiting: Waiting[] = [];
  private failure: unknown;
  /** Whether the engine was loaded; false if the thread cannot be used. */
  readonly ready: Promise<boolean>;

  constructor(
    spawn: SpawnParseWorker,
    code: WebAssembly.Module,
    private readonly parses: Parses,
  ) {
    let settle: (isReady: boolean) => void = () => undefined;
    this.ready = new Promise((resolve) => (settle = resolve));
    const fail = (error: unknown): void => {
      settle(false);
      this.failure = asError(error, "internal");
      for (const { reject } of this.waiting.splice(0)) reject(this.failure);
    };
    const receive = (result: Result): void => {
      if (result.is === "ready") settle(true);
      if (result.is === "failed") fail(fromWire(result.error));
      if (result.is === "parsed") this.waiting.shift()?.resolve(result.piece);
    };
    this.thread = spawn(receive, fail);
    this.thread.postMessage({ do: "load", code }, []);
  }

  get load(): number {
    return this.waiting.length;
  }

  parse(text: Piece): Promise<ParsedPiece> {
    if (this.failure) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.thread.postMessage({ do: "parse", text, parses: this.parses }, buffersOf(text));
    });
  }

  end(): void {
    this.thread.terminate();
  }
}

/** Threads that parse. */
export class Parsers {
  private constructor(private readonly parsers: readonly Parser[]) {}

  /** Starts this many threads. Returns undefined if the platform cannot start one. */
  static async start(
    spawn: SpawnParseWorker,
    code: WebAssembly.Module,
    parses: Parses,
    count: number,
  ): Promise<Parsers | undefined> {
    const started: Parser[] = [];
    try {
      while (started.length < count) started.push(new Parser(spawn, code, parses));
    } catch {
      // The platform has no threads inside of threads, or no more of them.
    }
    const areReady = await Promise.all(started.map((parser) => parser.ready));
    const ready = started.filter((_, at) => areReady[at]);
    for (const parser of started) if (!ready.includes(parser)) parser.end();
    return ready.length > 0 ? new Parsers(ready) : undefined;
  }

  /** Parses pieces at the same time, and yields them in their order. The buffers of the pieces are transferred. */
  async *parse(pieces: AsyncIterable<Piece>): AsyncGenerator<ParsedPiece> {
    const source = pieces[Symbol.asyncIterator]();
    const inOrder: Promise<ParsedPiece>[] = [];
    let end: { failure?: unknown } | undefined;
    try {
      while (!end || inOrder.length > 0) {
        while (!end && inOrder.length < this.parsers.length * AHEAD) {
          end = await source.next().then(
            ({ done, value }) => (done ? {} : void inOrder.push(this.assign(value))),
            (failure: unknown) => ({ failure }),
          );
        }
        const first = inOrder.shift();
        if (first) yield await first;
      }
      if (end.failure) throw end.failure;
    } finally {
      await source.return?.(undefined);
    }
  }

  private assign(text: Piece): Promise<ParsedPiece> {
    const idlest = this.parsers.reduce((least, one) => (one.load < least.load ? one : least));
    const parsed = idlest.parse(text);
    // It is awaited later, or not at all if an earlier one fails.
    parsed.catch(() => undefined);
    return parsed;
  }

  end(): void {
    for (const parser of this.parsers) parser.end();
  }
}

/** Decompresses in a thread of its own: browsers decompress in the thread that reads. Throws as `Gunzip`. */
export async function* gunzipIn(spawn: SpawnParseWorker, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  const results = new Queue<Result>();
  const fail = (thrown: unknown): void => results.push({ is: "failed", error: asError(thrown, "internal") });
  const thread = spawn((result) => (result.is === "next" ? void pass() : results.push(result)), fail);
  const source = chunks[Symbol.asyncIterator]();
  const order = (one: Order, transfer: Transferable[] = []): void => thread.postMessage(one, transfer);
  async function pass(): Promise<void> {
    try {
      const { done, value } = await source.next();
      // A copy, because others may hold the chunk. The method `slice` of a `Buffer` does not copy.
      const chunk = done ? undefined : new Uint8Array(value);
      order({ do: "inflate", chunk }, chunk ? [chunk.buffer] : []);
    } catch (thrown) {
      fail(thrown);
    }
  }
  try {
    for (let wanted = 0; wanted < INFLATED_AHEAD; wanted += 1) order({ do: "want" });
    for (;;) {
      const result = await results.take();
      if (result.is === "failed") throw fromWire(result.error);
      if (result.is !== "piece") throw new KinetoscopeError("internal", `unexpected result ${result.is}`);
      if (!result.piece) return;
      order({ do: "want" });
      yield result.piece;
    }
  } finally {
    thread.terminate();
    await source.return?.(undefined);
  }
}
