// Parse workers, which parse and decompress for the thread that reads a trace, and the messages between them.

import type { Piece } from "../base/pieces.js";
import type { WireError } from "../base/posted-error.js";

/** Decompresses gzip. Throws errors of the input and errors of the compressed data alike. */
export type Gunzip = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** What becomes of a piece of text: its events for a trace, or their totals for an outline. */
export type Parses = "events" | "totals";

/** A piece of text, and its segment if it has one. */
export interface ParsedPiece {
  text: Piece;
  segment: { start: number; end: number; bytes: Uint8Array<ArrayBuffer> } | undefined;
}

/** A message to a parse worker. */
export type Order =
  /** The first message: the engine. */
  | { do: "load"; code: WebAssembly.Module }
  | { do: "parse"; text: Piece; parses: Parses }
  /** Compressed bytes, in reply to `next`; none at the end. */
  | { do: "inflate"; chunk: Uint8Array<ArrayBuffer> | undefined }
  /** The taker wants one more piece. */
  | { do: "want" };

/** A message from a parse worker. */
export type Result =
  | { is: "ready" }
  | { is: "parsed"; piece: ParsedPiece }
  | { is: "next" }
  /** A decompressed piece; none at the end. */
  | { is: "piece"; piece: Piece | undefined }
  | { is: "failed"; error: WireError };

/** A parse worker, independent of the platform. */
export interface ParseWorker extends Port<Order> {
  terminate(): unknown;
}

/** Starts a parse worker that passes its results and its failure to the callbacks. */
export type SpawnParseWorker = (onResult: (result: Result) => void, onFailure: (error: unknown) => void) => ParseWorker;

/** How parse workers are started, and what they do. */
export interface ParseWorkers {
  spawn: SpawnParseWorker;
  /** The number of processors. */
  processors: number;
  /** The compiled engine. */
  code(): Promise<WebAssembly.Module>;
  /** Whether decompression needs a thread of its own, because the platform has none for it. */
  inflates: boolean;
}

/** One end of a connection between threads. */
export interface Port<Out> {
  postMessage(message: Out, transfer: Transferable[]): void;
}
