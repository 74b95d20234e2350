// Threads that help the thread of a trace to read it, and the messages between them.

import type { Piece } from "./pieces.js";
import type { WireError } from "./wire-error.js";

/** Decompresses gzip. Throws errors of the input and errors of the compressed data alike. */
export type Gunzip = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** What becomes of a piece of text: its events for a trace, or their totals for an outline. */
export type Parses = "events" | "totals";

/** A piece of text, and its segment if it has one. */
export interface ParsedPiece {
  text: Piece;
  segment: { start: number; end: number; bytes: Uint8Array<ArrayBuffer> } | undefined;
}

/** A message to a helper. */
export type Order =
  /** The first message: the engine. */
  | { do: "load"; code: WebAssembly.Module }
  | { do: "parse"; text: Piece; parses: Parses }
  /** Compressed bytes, in reply to `next`; none at the end. */
  | { do: "inflate"; chunk: Uint8Array<ArrayBuffer> | undefined }
  /** The taker wants one more piece. */
  | { do: "want" };

/** A message from a helper. */
export type Result =
  | { is: "ready" }
  | { is: "parsed"; piece: ParsedPiece }
  | { is: "next" }
  /** A decompressed piece; none at the end. */
  | { is: "piece"; piece: Piece | undefined }
  | { is: "failed"; error: WireError };

/** A helper, independent of the platform. */
export interface Helper extends Port<Order> {
  terminate(): unknown;
}

/** Starts a helper that passes its results and its failure to the callbacks. */
export type SpawnHelper = (onResult: (result: Result) => void, onFailure: (error: unknown) => void) => Helper;

/** How threads help to read. */
export interface Helping {
  spawn: SpawnHelper;
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
