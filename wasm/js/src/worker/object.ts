// What a worker holds for the page: requests about it, and its disposal.

import type { Connection, MessageBody, SendOptions } from "./connection.js";
import { KinetoscopeError, aborted } from "../base/errors.js";
import * as checks from "../options/checks.js";
import type { WorkerMethod } from "./protocol.js";

const leaked = new FinalizationRegistry<() => void>((release) => release());

/** What every query of a worker takes. */
export interface Abortable {
  /**
   * Ends the wait for the answer. A query that has not begun is not computed; one that the engine computes ends later, and only `dispose`
   * stops it.
   */
  signal?: AbortSignal | undefined;
}

/** Separates the signal from the options of a query. */
export function splitSignal(options: unknown): [unknown, AbortSignal | undefined] {
  if (typeof options !== "object" || options === null || !("signal" in options)) return [options, undefined];
  const { signal, ...others } = checks.options(options as Abortable);
  return [others, signal];
}

/** Something that a worker holds until it is disposed of. */
export class WorkerObject {
  #connection: Connection;
  #id: number;
  #what: string;
  #isDisposed = false;

  /** @internal */
  constructor(connection: Connection, id: number, what: string) {
    this.#connection = connection;
    this.#id = id;
    this.#what = what;
    connection.held += 1;
    const reason = this.#disposedError();
    leaked.register(this, () => connection.release(id, reason), this);
  }

  #disposedError(): KinetoscopeError {
    return new KinetoscopeError("disposed", `${this.#what} was disposed of`);
  }

  /** Sends a request about it. This object is kept alive until the reply: without it the worker would be terminated. */
  protected send<T>(message: (id: number) => MessageBody, options: SendOptions = {}): Promise<T> {
    if (this.#isDisposed) return Promise.reject(this.#disposedError());
    return this.#connection.send<T>(message(this.#id), { ...options, holder: this });
  }

  /** Makes something else that the same worker holds. */
  protected make<T>(create: (connection: Connection) => T): T {
    return create(this.#connection);
  }

  /** Calls a method of it. The options, which can have a signal, are the last argument. */
  protected async ask<T>(method: WorkerMethod, ...given: unknown[]): Promise<T> {
    if (this.#isDisposed) throw this.#disposedError();
    const [options, signal] = splitSignal(given.at(-1));
    const message: MessageBody = { do: "ask", held: this.#id, method, arguments: [...given.slice(0, -1), options] };
    return this.#connection.query<T>(message, { signal, holder: this });
  }

  /** Returns the pieces of what the worker writes for a request. */
  protected written(message: (id: number) => MessageBody, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
    if (this.#isDisposed) throw this.#disposedError();
    const begun = signal?.aborted ? Promise.reject<number>(aborted(signal)) : this.send<number>(message);
    begun.catch(() => undefined);
    return this.#connection.stream(begun, { holder: this, signal });
  }

  /** Frees it. With the last object of a worker that is not of a pool, the worker and pending computations are terminated. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    leaked.unregister(this);
    this.#connection.release(this.#id, this.#disposedError());
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
