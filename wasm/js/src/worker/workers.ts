// Where the workers of a client come from: a new one for each request, or those of a pool.

import { Connection, type Spawn } from "./connection.js";
import { KinetoscopeError, aborted, asError, check } from "../base/errors.js";

export interface Workers {
  /** Returns a worker for a request. */
  take(): Connection;
  /** Returns the workers that run. */
  all(): Connection[];
}

/** A worker of its own for each request. It is terminated with what the request has made. */
export class OwnWorkers implements Workers {
  private connections: Connection[] = [];

  constructor(private readonly spawn: Spawn) {}

  take(): Connection {
    const connection = new Connection(this.spawn);
    this.connections = [...this.all(), connection];
    return connection;
  }

  all(): Connection[] {
    return this.connections.filter((one) => !one.isDead);
  }
}

/** At most `size` workers, which are kept. A request goes to the one with the least to do. */
export class WorkerPool implements Workers {
  private connections: Connection[] = [];
  private isDisposed = false;

  constructor(
    private readonly spawn: Spawn,
    private readonly size: number,
  ) {}

  all(): Connection[] {
    return this.connections.filter((one) => !one.isDead);
  }

  take(): Connection {
    if (this.isDisposed) throw poolDisposed();
    this.connections = this.all();
    const [first] = [...this.connections].sort((a, b) => a.load - b.load || a.held - b.held);
    const isBusy = !first || first.load > 0 || first.held > 0;
    return isBusy && this.connections.length < this.size ? this.start() : (first as Connection);
  }

  private start(): Connection {
    const connection = new Connection(this.spawn, true);
    this.connections.push(connection);
    return connection;
  }

  /** Terminates the workers, with the traces that they hold. */
  dispose(): void {
    this.isDisposed = true;
    for (const connection of this.connections.splice(0)) connection.end(poolDisposed());
  }
}

const poolDisposed = (): KinetoscopeError => new KinetoscopeError("disposed", "the pool was disposed of");

/** Runs `use` with a worker. A worker that is not kept is terminated at once when the signal is aborted. */
export async function withWorker<T>(
  workers: Workers,
  signal: AbortSignal | undefined,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  check(signal);
  const connection = workers.take();
  const abort = (): void => connection.fail(aborted(signal as AbortSignal));
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await use(connection);
  } catch (thrown) {
    // What is no error of this package was thrown by the caller's `onProgress`.
    connection.fail(asError(thrown, "aborted"));
    throw thrown;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

/** Sends a request whose answer is all that is wanted of the worker. */
export async function askOnce<T>(
  workers: Workers,
  signal: AbortSignal | undefined,
  ask: (connection: Connection) => Promise<T>,
): Promise<T> {
  return withWorker(workers, signal, async (connection) => {
    const answer = await ask(connection);
    connection.finish(new KinetoscopeError("disposed", "the answer was returned"));
    return answer;
  });
}

/** Returns what a worker writes for a request, which is all that is wanted of it. Aborting ends the stream. */
export async function streamOnce(
  workers: Workers,
  signal: AbortSignal | undefined,
  begin: (connection: Connection) => Promise<number>,
): Promise<ReadableStream<Uint8Array>> {
  return withWorker(workers, signal, async (connection) => {
    const writing = await begin(connection);
    // The worker of a stream is in use.
    connection.held += 1;
    let ended = false;
    const end = (reason: KinetoscopeError): void => {
      if (ended) return;
      ended = true;
      connection.held -= 1;
      signal?.removeEventListener("abort", abort);
      connection.finish(reason);
    };
    const abort = (): void => end(aborted(signal as AbortSignal));
    signal?.addEventListener("abort", abort, { once: true });
    const onEnd = (): void => end(new KinetoscopeError("disposed", "the stream has ended"));
    return connection.stream(Promise.resolve(writing), { onEnd });
  });
}
