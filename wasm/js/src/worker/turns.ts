// Queries of one worker, which answers one after the other.

import { aborted, check } from "../base/errors.js";

/** Calls that run one after the other, in their order. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();
  /** The number of calls that have not begun. */
  waiting = 0;

  /** Runs a call after those before. It is left out if the signal is aborted until then; afterwards its result is dropped. */
  take<T>(call: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    this.waiting += 1;
    const begun = this.last.then(() => {
      this.waiting -= 1;
      check(signal);
      return call();
    });
    this.last = begun.catch(() => undefined);
    return signal ? orAborted(begun, signal) : begun;
  }
}

/** Returns the result of a promise, unless the signal is aborted before. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(aborted(signal));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
