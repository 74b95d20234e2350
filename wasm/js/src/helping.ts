// The messages between the thread of a trace and the threads that help it read: they parse or decompress.

import type { WireError } from "./protocol.js";

/** A piece of text, and its segment if it has one. */
export interface ParsedPiece {
  text: Uint8Array<ArrayBuffer>;
  segment: { start: number; end: number; bytes: Uint8Array<ArrayBuffer> } | undefined;
}

/** A message to a helper. */
export type Order =
  /** The first message: the engine. */
  | { do: "load"; code: WebAssembly.Module }
  | { do: "parse"; text: Uint8Array<ArrayBuffer> }
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
  | { is: "piece"; piece: Uint8Array<ArrayBuffer> | undefined }
  | { is: "failed"; error: WireError };

/** A helper, independent of the platform. */
export interface Helper {
  postMessage(order: Order, transfer: Transferable[]): void;
  terminate(): unknown;
}

/** Starts a helper that passes its results and its failure to the callbacks. */
export type SpawnHelper = (onResult: (result: Result) => void, onFailure: (error: unknown) => void) => Helper;
