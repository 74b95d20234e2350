// A connection to a worker: requests and their replies.

import { KinetoscopeError, aborted, asError } from "../base/errors.js";
import type { Port } from "../parse-worker/messages.js";
import type { Reply, Request as Message } from "./protocol.js";
import { Turns } from "./turns.js";
import { fromWire } from "../base/posted-error.js";

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

/** Options of a stream. */
export interface StreamedOptions {
  holder?: unknown;
  /** Ends the stream with an error. */
  signal?: AbortSignal | undefined;
  onEnd?: () => void;
}

interface Pending extends SendOptions {
  resolve(value: never): void;
  reject(error: unknown): void;
  /** Aborts the request. */
  abort(): void;
}

/** A message without its id. */
export type MessageBody = Message extends infer M ? (M extends { id: number } ? Omit<M, "id"> : never) : never;

/** A connection to a worker. Unless it is kept, the worker is terminated with the last object that it holds. */
export class Connection {
  private readonly thread: Thread;
  private readonly pending = new Map<number, Pending>();
  private readonly turns = new Turns();
  private next = 0;
  private dead: KinetoscopeError | undefined;
  /** The number of objects that the worker holds. */
  held = 0;

  constructor(
    spawn: Spawn,
    private readonly isKept = false,
  ) {
    try {
      this.thread = spawn(
        (reply) => this.receive(reply),
        (thrown) => this.end(asError(thrown, "worker")),
      );
    } catch (thrown) {
      throw asError(thrown, "worker");
    }
  }

  /** The number of requests without a reply. */
  get load(): number {
    return this.pending.size + this.turns.waiting;
  }

  get isDead(): boolean {
    return this.dead !== undefined;
  }

  private receive(reply: Reply): void {
    const request = this.pending.get(reply.id);
    if (!request) return;
    if ("progress" in reply) return this.report(reply.id, request, reply.progress);
    this.remove(reply.id);
    if ("value" in reply) return request.resolve(reply.value as never);
    const { signal } = request;
    request.reject(reply.error.code === "aborted" && signal?.aborted ? aborted(signal) : fromWire(reply.error));
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
    if (options.signal?.aborted) return Promise.reject(aborted(options.signal));
    const id = ++this.next;
    return new Promise<T>((resolve, reject) => {
      const abort = (): void => this.tell({ do: "abort", request: id });
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

  /** Sends a message whose reply does not matter. */
  private tell(message: MessageBody): void {
    if (!this.dead) this.thread.postMessage({ ...message, id: ++this.next } as Message, []);
  }

  /**
   * Sends a query, once the worker has answered those before. It is not sent if the signal is aborted until then; if the engine computes it,
   * its answer is dropped.
   */
  query<T>(message: MessageBody, { signal, ...options }: SendOptions): Promise<T> {
    return this.turns.take(() => this.send<T>(message, options), signal);
  }

  /** Returns the pieces of what the worker writes; `holder` is kept alive until the stream ends. */
  stream(begun: Promise<number>, { holder, signal, onEnd }: StreamedOptions): ReadableStream<Uint8Array> {
    const send = <T>(message: MessageBody): Promise<T> => this.send<T>(message, { holder });
    let isOver = false;
    let abort = (): void => undefined;
    const end = (): void => {
      signal?.removeEventListener("abort", abort);
      onEnd?.();
    };
    const cancel = async (): Promise<void> => {
      isOver = true;
      try {
        await send({ do: "cancel", writing: await begun });
      } finally {
        end();
      }
    };
    return new ReadableStream<Uint8Array>({
      start(controller) {
        abort = (): void => {
          if (isOver) return;
          controller.error(aborted(signal as AbortSignal));
          cancel().catch(() => undefined);
        };
        signal?.addEventListener("abort", abort);
      },
      async pull(controller) {
        try {
          const piece = await send<Uint8Array | undefined>({ do: "pull", writing: await begun });
          if (isOver) return;
          if (piece) return controller.enqueue(piece);
          isOver = true;
          end();
          controller.close();
        } catch (thrown) {
          if (isOver) return;
          isOver = true;
          end();
          throw thrown;
        }
      },
      cancel,
    });
  }

  private remove(id: number): void {
    const request = this.pending.get(id);
    request?.signal?.removeEventListener("abort", request.abort);
    this.pending.delete(id);
    if (this.pending.size === 0) this.thread.setBusy?.(false);
  }

  /** Releases an object that the worker holds. */
  release(held: number, reason: KinetoscopeError): void {
    this.held -= 1;
    this.tell({ do: "dispose", held });
    this.finish(reason);
  }

  /** Terminates the worker, unless it is kept or holds an object. */
  finish(reason: KinetoscopeError): void {
    if (this.held === 0 && !this.isKept) this.end(reason);
  }

  /** Terminates the worker after a request has failed, unless it is kept: an engine that has failed cannot be used again. */
  fail(error: KinetoscopeError): void {
    if (!this.isKept || error.code === "internal") this.end(error);
  }

  end(error: KinetoscopeError): void {
    if (this.dead) return;
    this.dead = error;
    this.thread.terminate();
    for (const { signal, abort, reject } of this.pending.values()) {
      signal?.removeEventListener("abort", abort);
      reject(error);
    }
    this.pending.clear();
  }
}
