// Errors as they are posted between threads.

import { KinetoscopeError, asError, type ErrorCode } from "./errors.js";

export interface WireError {
  code: ErrorCode;
  message: string;
  byteOffset: number | undefined;
  source: string | undefined;
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
