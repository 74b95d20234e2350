// The error type of the package.

import type { EngineErrorCode } from "./queries.js";

/**
 * The cause of an error:
 * - `empty`, `not_a_trace`: the source is not a trace; `byteOffset` is the offset in the decompressed text where this
 *   was detected;
 * - `bad_option`, `bad_source`: an argument is invalid; `output`: an event cannot be written;
 * - `http`: the server returned an error; `io`: reading the source failed;
 * - `aborted`: the signal was aborted; `cause` is its reason;
 * - `unfit`: the trace lacks what the answer needs, or has no outline;
 * - `disposed`: the trace was disposed of; `too_large`: the answer does not fit into one string;
 * - `not_initialized`: `init` was not called; `internal`: a bug in the engine, which has to be loaded again.
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
  /** The offset in the decompressed text in bytes, if the bytes of the source are the cause. */
  readonly byteOffset: number | undefined;
  /** The name of the source, if a source is the cause. */
  source: string | undefined;

  constructor(code: ErrorCode, message: string, details: { byteOffset?: number | undefined; cause?: unknown } = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    // The name that the platform uses for aborted operations.
    this.name = code === "aborted" ? "AbortError" : "KinetoscopeError";
    this.code = code;
    this.byteOffset = details.byteOffset;
  }
}

/** The value that the engine throws. */
interface Failure {
  code: ErrorCode;
  message: string;
  byteOffset?: number;
}

function isFailure(thrown: unknown): thrown is Failure {
  return typeof thrown === "object" && thrown !== null && !(thrown instanceof Error) && "code" in thrown;
}

/** Converts a thrown value to an error of this package; `code` is used for values from outside the package. */
export function asError(thrown: unknown, code: ErrorCode): KinetoscopeError {
  if (thrown instanceof KinetoscopeError) return thrown;
  if (isFailure(thrown)) return new KinetoscopeError(thrown.code, thrown.message, { byteOffset: thrown.byteOffset });
  if (thrown instanceof WebAssembly.RuntimeError) {
    return new KinetoscopeError("internal", `the engine failed: ${thrown.message}`, { cause: thrown });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new KinetoscopeError(code, message, { cause: thrown });
}

/** Calls the engine and converts thrown values. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw asError(thrown, "internal");
  }
}

/** Frees an object of the engine after its use. */
export function using<E extends { free(): void }, T>(engine: E, use: (engine: E) => T): T {
  try {
    return guarded(() => use(engine));
  } finally {
    engine.free();
  }
}

/** Throws if the signal is aborted. */
export function check(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal);
}

export function aborted(signal: AbortSignal): KinetoscopeError {
  return new KinetoscopeError("aborted", "reading was aborted", { cause: signal.reason });
}
