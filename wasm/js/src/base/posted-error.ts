// Errors as they are posted between threads.

import { KinetoscopeError, asError, type ErrorCode } from "./errors.js";

export interface WireError {
  code: ErrorCode;
  message: string;
  byteOffset: number | undefined;
  source: string | undefined;
  reason: unknown;
}

/** What the platform has thrown, if it can be posted. */
function posted(reason: unknown): unknown {
  try {
    return structuredClone(reason);
  } catch {
    return undefined;
  }
}

export function toWire(thrown: unknown): WireError {
  const { code, message, byteOffset, source, reason } = asError(thrown, "internal");
  return { code, message, byteOffset, source, reason: posted(reason) };
}

export function fromWire(wire: WireError): KinetoscopeError {
  const error = new KinetoscopeError(wire.code, wire.message, wire);
  error.source = wire.source;
  return error;
}
