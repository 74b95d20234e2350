// A connection to a worker: requests and their replies.

import { KinetoscopeError, aborted, asError, check } from "./errors.js";
import type { Port } from "./helping.js";
import type { Reply, Request as Message } from "./protocol.js";
import { fromWire } from "./wire-error.js";

/** A worker, independent of the platform. */
export interface Thread extends Port<Message> {
  terminate(): unknown;
  /** Sets whether a reply is pending. In Node, an idle worker does not keep the process alive. */
  setBusy?(isBusy: boolean): void;
}

/** Starts a worker that passes its replies and its failure to the callbacks. */
export type Spawn = (onReply: (reply: Reply) => void, onFailure: (error: unknown) => void) => Thread;

/** Options of a request. */
export interface SendOptions {
  transfer?: Transferable[];
  onProgress?: ((progress: never) => void) | undefined;
  /** Aborts the request; the worker goes on with others. */
  signal?: AbortSignal | undefined;
  /** An object that must not be garbage-collected before the reply arrives. */
  holder?: unknown;
}

interface Pending extends SendOptions {
  resolve(value: never): void;
  reject(error: unknown): void;
  /** Aborts the request. */
  abort(): void;
}

/** A message without its id. */
export type MessageBody = Message extends infer M ? (M extends { id: number } ? Omit<M, "id"> : never) : never;

/** A connection to a worker, which is terminated with the last of its traces. */
export class Connection {
  private readonly thread: Thread;
  private readonly pending = new Map<number, Pending>();
  private next = 0;
  private dead: KinetoscopeError | undefined;
  traces = 0;

  constructor(spawn: Spawn) {
    this.thread = spawn(
      (reply) => this.receive(reply),
      (thrown) => this.end(asError(thrown, "internal")),
    );
  }

  private receive(reply: Reply): void {
    const request = this.pending.get(reply.id);
    if (!request) return;
    if ("progress" in reply) return this.report(reply.id, request, reply.progress);
    this.remove(reply.id);
    if ("error" in reply) request.reject(fromWire(reply.error));
    else request.resolve(reply.value as never);
  }

  /** Reports progress. A request whose `onProgress` throws is aborted and fails with what was thrown. */
  private report(id: number, request: Pending, progress: unknown): void {
    try {
      request.onProgress?.(progress as never);
    } catch (thrown) {
      this.remove(id);
      request.abort();
      request.reject(thrown);
    }
  }

  send<T>(message: MessageBody, options: SendOptions = {}): Promise<T> {
    if (this.dead) return Promise.reject(this.dead);
    const id = ++this.next;
    return new Promise<T>((resolve, reject) => {
      const abort = (): void => void this.send({ do: "abort", request: id }).catch(() => undefined);
      options.signal?.addEventListener("abort", abort);
      this.pending.set(id, { ...options, resolve, reject, abort });
      this.thread.setBusy?.(true);
      try {
        this.thread.postMessage({ ...message, id } as Message, options.transfer ?? []);
      } catch (thrown) {
        this.remove(id);
        reject(asError(thrown, "bad_option"));
      }
    });
  }

  /** Returns the pieces of what the worker writes; `holder` is kept alive until the stream ends. */
  stream(begun: Promise<number>, holder: unknown, onEnd: () => void = () => undefined): ReadableStream<Uint8Array> {
    const send = <T>(message: MessageBody): Promise<T> => this.send<T>(message, { holder });
    let isCancelled = false;
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const piece = await send<Uint8Array | undefined>({ do: "pull", writing: await begun });
          if (isCancelled) return;
          if (piece) return controller.enqueue(piece);
          onEnd();
          controller.close();
        } catch (thrown) {
          if (isCancelled) return;
          onEnd();
          throw thrown;
        }
      },
      async cancel() {
        isCancelled = true;
        try {
          await send({ do: "cancel", writing: await begun });
        } finally {
          onEnd();
        }
      },
    });
  }

  private remove(id: number): void {
    const request = this.pending.get(id);
    request?.signal?.removeEventListener("abort", request.abort);
    this.pending.delete(id);
    if (this.pending.size === 0) this.thread.setBusy?.(false);
  }

  /** Releases a trace, and terminates the worker with the last one. */
  release(trace: number, reason: KinetoscopeError): void {
    this.traces -= 1;
    if (this.traces === 0) this.end(reason);
    else void this.send({ do: "dispose", trace }).catch(() => undefined);
  }

  end(error: KinetoscopeError): void {
    if (this.dead) return;
    this.dead = error;
    this.thread.terminate();
    for (const request of this.pending.values()) request.reject(error);
    this.pending.clear();
  }
}

/** Runs `use` with a worker that is terminated when the signal is aborted or `use` fails. */
export async function withWorker<T>(
  spawn: Spawn,
  signal: AbortSignal | undefined,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  check(signal);
  const connection = new Connection(spawn);
  const abort = (): void => connection.end(aborted(signal as AbortSignal));
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await use(connection);
  } catch (thrown) {
    connection.end(asError(thrown, "internal"));
    throw thrown;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
