// What a page and the worker of its traces say to each other.

import { KinetoscopeError, asError, type ErrorCode } from "./errors.js";
import type { Progress } from "./read.js";

/** A source in a form that can be posted. */
export type WireSource =
  | { kind: "blob"; name: string; blob: Blob }
  | { kind: "bytes"; bytes: Uint8Array | ArrayBuffer }
  | { kind: "place"; place: string; isUrl: boolean }
  | { kind: "stream"; name: string; size: number | undefined; stream: ReadableStream<Uint8Array> };

/** The methods of a trace that are called by name. */
export type Method =
  | "rows"
  | "columns"
  | "table"
  | "json"
  | "csv"
  | "markdown"
  | "diagnostics"
  | "tiles"
  | "find"
  | "instances"
  | "related"
  | "curve"
  | "event";

/** To the worker; every request is answered under its id. */
export type Request =
  | { id: number; do: "open"; sources: WireSource[]; memoryLimit: number | undefined; wantsProgress: boolean }
  | { id: number; do: "call"; trace: number; method: Method; arguments: unknown[] }
  | { id: number; do: "export"; trace: number; name: string; options: unknown }
  | { id: number; do: "pull"; writing: number }
  | { id: number; do: "cancel"; writing: number }
  | { id: number; do: "dispose"; trace: number };

/** What the page knows of a trace that the worker holds. */
export interface Opened {
  trace: number;
  name: string;
  startNs: bigint;
  length: number;
}

export interface WireError {
  code: ErrorCode;
  message: string;
  byteOffset: number | undefined;
  source: string | undefined;
}

/** From the worker. */
export type Reply =
  { id: number; progress: Progress } | { id: number; value: unknown } | { id: number; error: WireError };

/** One end of the line. */
export interface Port<Out> {
  postMessage(message: Out, transfer: Transferable[]): void;
}

export function toWire(thrown: unknown): WireError {
  const { code, message, byteOffset, source } = asError(thrown, "internal");
  return { code, message, byteOffset, source };
}

export function fromWire(wire: WireError): KinetoscopeError {
  const error = new KinetoscopeError(wire.code, wire.message, { byteOffset: wire.byteOffset });
  error.source = wire.source;
  return error;
}
