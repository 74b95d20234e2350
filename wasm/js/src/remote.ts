// The page's side of the protocol: traces that a worker holds.

import { KinetoscopeError, aborted, asError, check } from "./errors.js";
import {
  fromWire,
  type Method,
  type Opened,
  type Port,
  type Reply,
  type Request as Message,
  type WireSource,
} from "./protocol.js";
import { openOptions } from "./given.js";
import { METHODS } from "./methods.js";
import type { OpenOptions, Progress } from "./read.js";
import { inputOf, type Source } from "./source.js";
import type {
  ChromeEvent,
  Columns,
  Curve,
  CurveOptions,
  Diagnostic,
  Related,
  Spans,
  Tiles,
  TilesOptions,
} from "./trace.js";
import type { Answers, Exports, Queries } from "./queries.js";

/** The queries, as promises. */
export type RemoteAnswers = {
  [V in keyof Answers]: (...options: Parameters<Answers[V]>) => Promise<ReturnType<Answers[V]>>;
};

/** A worker, independent of the platform. */
export interface Thread extends Port<Message> {
  terminate(): unknown;
  /** Sets whether a reply is pending. In Node, an idle worker does not keep the process alive. */
  setBusy?(isBusy: boolean): void;
}

/** Starts a worker that passes its replies and its failure to the callbacks. */
export type Spawn = (onReply: (reply: Reply) => void, onFailure: (error: unknown) => void) => Thread;

/** Options of a request. */
interface SendOptions {
  transfer?: Transferable[];
  onProgress?: ((progress: Progress) => void) | undefined;
  /** An object that must not be garbage-collected before the reply arrives. */
  holder?: unknown;
}

interface Pending extends SendOptions {
  resolve(value: never): void;
  reject(error: unknown): void;
}

/** A message without its id. */
type MessageBody = Message extends infer M ? (M extends { id: number } ? Omit<M, "id"> : never) : never;

/** A connection to a worker, which is terminated with the last of its traces. */
class Connection {
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
    if ("progress" in reply) return request.onProgress?.(reply.progress);
    this.remove(reply.id);
    if ("error" in reply) request.reject(fromWire(reply.error));
    else request.resolve(reply.value as never);
  }

  send<T>(message: MessageBody, options: SendOptions = {}): Promise<T> {
    if (this.dead) return Promise.reject(this.dead);
    const id = ++this.next;
    return new Promise<T>((resolve, reject) => {
      this.pending.set(id, { ...options, resolve, reject });
      this.thread.setBusy?.(true);
      try {
        this.thread.postMessage({ ...message, id } as Message, options.transfer ?? []);
      } catch (thrown) {
        this.remove(id);
        reject(asError(thrown, "bad_option"));
      }
    });
  }

  private remove(id: number): void {
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

const leaked = new FinalizationRegistry<() => void>((release) => release());

/** A trace that a worker holds: a `Trace` whose methods return promises. */
export class RemoteTrace {
  readonly name: string;
  /** The Unix time of the start of the recording in ns; all times are relative to it. */
  readonly startNs: bigint;
  readonly length: number;
  #connection: Connection;
  #trace: number;
  #disposed = false;

  /** @internal */
  constructor(connection: Connection, opened: Opened) {
    this.#connection = connection;
    this.#trace = opened.trace;
    this.name = opened.name;
    this.startNs = opened.startNs;
    this.length = opened.length;
    connection.traces += 1;
    const reason = this.#disposedError();
    leaked.register(this, () => connection.release(opened.trace, reason), this);
  }

  #call<T>(method: Method, ...given: unknown[]): Promise<T> {
    if (this.#disposed) return Promise.reject(this.#disposedError());
    return this.#connection.send<T>({ do: "call", trace: this.#trace, method, arguments: given }, { holder: this });
  }

  #disposedError(): KinetoscopeError {
    return new KinetoscopeError("disposed", `${this.name} was disposed of`);
  }

  rows<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<Queries[V]["row"][]> {
    return this.#call("rows", query, options);
  }

  columns<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<Columns<Queries[V]["row"]>> {
    return this.#call("columns", query, options);
  }

  table<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<string> {
    return this.#call("table", query, options);
  }

  json<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<string> {
    return this.#call("json", query, options);
  }

  csv<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<string> {
    return this.#call("csv", query, options);
  }

  markdown<V extends keyof Queries>(query: V, options?: Queries[V]["options"]): Promise<string> {
    return this.#call("markdown", query, options);
  }

  diagnostics(): Promise<Diagnostic[]> {
    return this.#call("diagnostics");
  }

  tiles(options: TilesOptions): Promise<Tiles> {
    return this.#call("tiles", options);
  }

  find(names: readonly string[], options?: { deviceWorkOnly?: boolean | undefined }): Promise<Spans> {
    return this.#call("find", names, options);
  }

  instances(row: number, options?: Pick<Queries["ops"]["options"], "groupBy">): Promise<Spans> {
    return this.#call("instances", row, options);
  }

  related(event: number): Promise<Related> {
    return this.#call("related", event);
  }

  curve(options: CurveOptions): Promise<Curve> {
    return this.#call("curve", options);
  }

  event(index: number): Promise<ChromeEvent> {
    return this.#call("event", index);
  }

  /** Returns the trace in another format; an invalid option errors the stream. */
  export<E extends keyof Exports>(name: E, options?: Exports[E]): ReadableStream<Uint8Array> {
    if (this.#disposed) throw this.#disposedError();
    // The stream keeps the trace alive: without it the worker would be terminated.
    const send = <T>(message: MessageBody): Promise<T> => this.#connection.send<T>(message, { holder: this });
    const begun = send<number>({ do: "export", trace: this.#trace, name, options });
    begun.catch(() => undefined);
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        const piece = await send<Uint8Array | undefined>({ do: "pull", writing: await begun });
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
      async cancel() {
        await send({ do: "cancel", writing: await begun });
      },
    });
  }

  /** Frees the trace. If it was the worker's last trace, the worker and pending computations are terminated. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    leaked.unregister(this);
    this.#connection.release(this.#trace, this.#disposedError());
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

export interface RemoteTrace extends RemoteAnswers {}

for (const { name, query, isOneRow } of METHODS) {
  const method = async function (this: RemoteTrace, options?: object): Promise<unknown> {
    const rows = await this.rows(query, options);
    return isOneRow ? rows[0] : rows;
  };
  Object.defineProperty(RemoteTrace.prototype, name, { value: method, configurable: true, writable: true });
}

/** Converts a source for posting. Returns it with the objects to transfer. */
async function wireOf(source: unknown, signal: AbortSignal | undefined): Promise<[WireSource, Transferable[]]> {
  if (source instanceof Blob) {
    return [{ kind: "blob", name: source instanceof File ? source.name : "blob", blob: source }, []];
  }
  if (source instanceof Uint8Array || source instanceof ArrayBuffer) return [{ kind: "bytes", bytes: source }, []];
  if (source instanceof URL) return [{ kind: "place", place: source.href, isUrl: true }, []];
  if (typeof source === "string") {
    const base = typeof document === "undefined" ? undefined : document.baseURI;
    const place = base === undefined ? source : new URL(source, base).href;
    return [{ kind: "place", place, isUrl: false }, []];
  }
  if (source instanceof ReadableStream) {
    return [{ kind: "stream", name: "stream", size: undefined, stream: source }, [source]];
  }
  if (source instanceof Request || source instanceof Response) {
    const input = await inputOf(source, signal);
    const stream = streamOf(input?.chunks() ?? empty());
    return [{ kind: "stream", name: input?.name ?? "response", size: input?.size, stream }, [stream]];
  }
  throw new KinetoscopeError("bad_source", `cannot read a trace from ${String(source)}`);
}

async function* empty(): AsyncGenerator<Uint8Array> {}

function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await iterator.return?.(undefined);
    },
  });
}

export interface RemoteClient {
  /** Works like `open` of the package, in its own worker; aborting terminates the worker. */
  open(source: Source, options?: OpenOptions): Promise<RemoteTrace>;
  open(sources: readonly Source[], options?: OpenOptions): Promise<RemoteTrace[]>;
}

export function createRemoteClient(spawn: Spawn): RemoteClient {
  async function all(sources: readonly unknown[], options: OpenOptions): Promise<RemoteTrace[]> {
    const { signal, onProgress, memoryLimit, torchVersion, kernelRules, executionTrace } = openOptions(options);
    check(signal);
    const wires: WireSource[] = [];
    const transfer: Transferable[] = [];
    const post = async (source: unknown): Promise<WireSource> => {
      const [wire, buffers] = await wireOf(source, signal);
      transfer.push(...buffers);
      return wire;
    };
    for (const source of sources) wires.push(await post(source));
    const joined = executionTrace === undefined ? undefined : await post(executionTrace);
    const connection = new Connection(spawn);
    const abort = (): void => connection.end(aborted(signal as AbortSignal));
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const wantsProgress = onProgress !== undefined;
      const request: MessageBody = {
        do: "open",
        sources: wires,
        memoryLimit,
        torchVersion,
        kernelRules,
        executionTrace: joined,
        wantsProgress,
      };
      const opened = await connection.send<Opened[]>(request, { transfer, onProgress });
      return opened.map((one) => new RemoteTrace(connection, one));
    } catch (thrown) {
      connection.end(asError(thrown, "internal"));
      throw thrown;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  function open(source: Source, options?: OpenOptions): Promise<RemoteTrace>;
  function open(sources: readonly Source[], options?: OpenOptions): Promise<RemoteTrace[]>;
  async function open(source: unknown, options: OpenOptions = {}): Promise<RemoteTrace | RemoteTrace[]> {
    if (Array.isArray(source)) return all(source, options);
    const [trace] = await all([source], options);
    return trace as RemoteTrace;
  }

  return { open };
}
