// The one error of the package.

import type { EngineErrorCode } from "./queries.js";

/**
 * What went wrong:
 * - `empty`, `not_a_trace`: the bytes; `byteOffset` says where in the decompressed text that was certain;
 * - `bad_option`, `bad_source`: an argument; `output`: an event that cannot be written;
 * - `http`: the server's answer; `io`: the source failed while it was read;
 * - `aborted`: the signal; `cause` is its reason;
 * - `disposed`: the trace was given back; `too_large`: the answer does not fit into one string;
 * - `not_initialized`: `init` was not called; `internal`: a fault of the engine, which has to be loaded anew.
 */
export type ErrorCode =
  | EngineErrorCode
  | "bad_source"
  | "http"
  | "io"
  | "aborted"
  | "disposed"
  | "too_large"
  | "not_initialized"
  | "internal";

export class KinetoscopeError extends Error {
  readonly code: ErrorCode;
  /** Where in the decompressed text, in bytes, where bytes are the cause. */
  readonly byteOffset: number | undefined;
  /** The name of the source, where one is the cause. */
  source: string | undefined;

  constructor(code: ErrorCode, message: string, details: { byteOffset?: number | undefined; cause?: unknown } = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    // As the platform's own aborted operations call themselves.
    this.name = code === "aborted" ? "AbortError" : "KinetoscopeError";
    this.code = code;
    this.byteOffset = details.byteOffset;
  }
}

/** What the engine throws. */
interface Failure {
  code: ErrorCode;
  message: string;
  byteOffset?: number;
}

function isFailure(thrown: unknown): thrown is Failure {
  return typeof thrown === "object" && thrown !== null && !(thrown instanceof Error) && "code" in thrown;
}

/** Whatever was thrown as an error of this package; `code` is that of errors from outside. */
export function asError(thrown: unknown, code: ErrorCode): KinetoscopeError {
  if (thrown instanceof KinetoscopeError) return thrown;
  if (isFailure(thrown)) return new KinetoscopeError(thrown.code, thrown.message, { byteOffset: thrown.byteOffset });
  if (thrown instanceof WebAssembly.RuntimeError) {
    return new KinetoscopeError("internal", `the engine failed: ${thrown.message}`, { cause: thrown });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new KinetoscopeError(code, message, { cause: thrown });
}

/** Runs a call into the engine. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw asError(thrown, "internal");
  }
}

/** Throws when the signal is aborted. */
export function check(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal);
}

export function aborted(signal: AbortSignal): KinetoscopeError {
  return new KinetoscopeError("aborted", "reading was aborted", { cause: signal.reason });
}
