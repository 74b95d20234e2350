// The error type of the package.

import { cannotContinue, isStale, isTrap, replaceInstances } from "./instances.js";
import type { EngineErrorCode } from "../generated/queries.js";

/**
 * The cause of an error:
 * - `empty`, `not_a_trace`: the source is not a trace; `byteOffset` is the offset in the decompressed text where this
 *   was detected;
 * - `bad_option`, `bad_source`: an argument is invalid; `output`: an event cannot be written;
 * - `http`: the server returned an error; `io`: reading the source failed;
 * - `aborted`: the signal was aborted; `reason` is its reason;
 * - `worker`: a worker could not be started, or has ended;
 * - `unfit`: the trace lacks what the answer needs, or has no outline;
 * - `disposed`: the trace was disposed of; `too_large`: the answer does not fit into one string;
 * - `not_initialized`: `init` was not called; `internal`: the engine has failed, for lack of memory or by a bug; what it held is lost, and
 *   what is opened after that works.
 */
export type ErrorCode =
  | EngineErrorCode
  | "bad_source"
  | "http"
  | "io"
  | "aborted"
  | "worker"
  | "disposed"
  | "too_large"
  | "not_initialized"
  | "internal";

/** What an error states about its cause. */
interface ErrorDetails {
  code: ErrorCode;
  byteOffset: number | undefined;
  source: string | undefined;
}

export class KinetoscopeError extends Error {
  /** The code, the offset and the source once more: of an error, `structuredClone` keeps only the message and the cause. */
  override readonly cause: ErrorDetails;
  /** The reason of the signal, or what the platform has thrown. */
  readonly reason: unknown;

  constructor(code: ErrorCode, message: string, details: { byteOffset?: number | undefined; reason?: unknown } = {}) {
    super(message);
    // The name that the platform uses for aborted operations.
    this.name = code === "aborted" ? "AbortError" : "KinetoscopeError";
    this.cause = { code, byteOffset: details.byteOffset, source: undefined };
    this.reason = details.reason;
  }

  get code(): ErrorCode {
    return this.cause.code;
  }

  /** The offset in the decompressed text in bytes, if the bytes of the source are the cause. */
  get byteOffset(): number | undefined {
    return this.cause.byteOffset;
  }

  /** The name of the source, if a source is the cause. */
  get source(): string | undefined {
    return this.cause.source;
  }

  set source(name: string | undefined) {
    this.cause.source = name;
  }
}

/** The value that the engine throws. */
interface Failure {
  code: ErrorCode;
  message: string;
  byteOffset: number | null;
}

function isFailure(thrown: unknown): thrown is Failure {
  return typeof thrown === "object" && thrown !== null && !(thrown instanceof Error) && "code" in thrown;
}

/** Whether it is what `structuredClone` makes of an error of this package, such as one that a stream has passed to another thread. */
function isClone(thrown: unknown): thrown is Error & { cause: ErrorDetails } {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return typeof cause === "object" && cause !== null && ["code", "byteOffset", "source"].every((key) => key in cause);
}

/** Converts a thrown value to an error of this package; `code` is used for values from outside the package. */
export function asError(thrown: unknown, code: ErrorCode): KinetoscopeError {
  if (thrown instanceof KinetoscopeError) return thrown;
  if (isClone(thrown)) {
    const error = new KinetoscopeError(thrown.cause.code, thrown.message, thrown.cause);
    error.source = thrown.cause.source;
    return error;
  }
  if (isFailure(thrown)) {
    return new KinetoscopeError(thrown.code, thrown.message, { byteOffset: thrown.byteOffset ?? undefined });
  }
  if (isTrap(thrown))
    return new KinetoscopeError("internal", `the engine failed: ${thrown.message}`, { reason: thrown });
  if (isStale(thrown))
    return new KinetoscopeError("internal", "the engine has failed since this was opened: open it again");
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new KinetoscopeError(code, message, { reason: thrown });
}

/** Calls the engine and converts thrown values. */
export function guarded<T>(call: () => T): T {
  if (cannotContinue())
    throw new KinetoscopeError("internal", "the engine has failed, and another one found no memory");
  try {
    return call();
  } catch (thrown) {
    if (isTrap(thrown)) replaceInstances();
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
  return new KinetoscopeError("aborted", "the operation was aborted", { reason: signal.reason });
}
