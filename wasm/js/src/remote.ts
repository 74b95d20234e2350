// The page's side: traces that a worker holds.

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
import { QUERIES, type Answers, type Exports, type Queries } from "./queries.js";

/** The analyses, as promises. */
export type RemoteAnswers = {
  [V in keyof Answers]: (...options: Parameters<Answers[V]>) => Promise<ReturnType<Answers[V]>>;
};

/** A worker, however the platform starts it. */
export interface Thread extends Port<Message> {
  terminate(): unknown;
  /** Whether an answer is awaited; in Node, an idle worker does not keep the process alive. */
  setBusy?(isBusy: boolean): void;
}

/** Starts a worker that tells its replies and its death. */
export type Spawn = (onReply: (reply: Reply) => void, onFailure: (error: unknown) => void) => Thread;

/** What goes with a request. */
interface With {
  transfer?: Transferable[];
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Whoever must not be given up for lost before the answer is there. */
  holder?: unknown;
}

interface Waiting extends With {
  resolve(value: never): void;
  reject(error: unknown): void;
}

/** A message without its id. */
type Ask = Message extends infer M ? (M extends { id: number } ? Omit<M, "id"> : never) : never;

/** One worker, which ends with the last of its traces. */
class Line {
  private readonly thread: Thread;
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private dead: KinetoscopeError | undefined;
  traces = 0;

  constructor(spawn: Spawn) {
    this.thread = spawn(
      (reply) => this.take(reply),
      (thrown) => this.end(asError(thrown, "internal")),
    );
  }

  private take(reply: Reply): void {
    const waiting = this.waiting.get(reply.id);
    if (!waiting) return;
    if ("progress" in reply) return waiting.onProgress?.(reply.progress);
    this.forget(reply.id);
    if ("error" in reply) waiting.reject(fromWire(reply.error));
    else waiting.resolve(reply.value as never);
  }

  ask<T>(message: Ask, more: With = {}): Promise<T> {
    if (this.dead) return Promise.reject(this.dead);
    const id = ++this.next;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { ...more, resolve, reject });
      this.thread.setBusy?.(true);
      try {
        this.thread.postMessage({ ...message, id } as Message, more.transfer ?? []);
      } catch (thrown) {
        this.forget(id);
        reject(asError(thrown, "bad_option"));
      }
    });
  }

  private forget(id: number): void {
    this.waiting.delete(id);
    if (this.waiting.size === 0) this.thread.setBusy?.(false);
  }

  /** Lets a trace go, and the worker with the last one. */
  release(trace: number, why: KinetoscopeError): void {
    this.traces -= 1;
    if (this.traces === 0) this.end(why);
    else void this.ask({ do: "dispose", trace }).catch(() => undefined);
  }

  end(error: KinetoscopeError): void {
    if (this.dead) return;
    this.dead = error;
    this.thread.terminate();
    for (const waiting of this.waiting.values()) waiting.reject(error);
    this.waiting.clear();
  }
}

const leaked = new FinalizationRegistry<() => void>((release) => release());

/** A trace that a worker holds: a `Trace` whose every answer is a promise. */
export class RemoteTrace {
  readonly name: string;
  /** The Unix time of the start of the recording, in ns, from which all times are counted. */
  readonly startNs: bigint;
  readonly length: number;
  #line: Line;
  #trace: number;
  #disposed = false;

  /** @internal */
  constructor(line: Line, opened: Opened) {
    this.#line = line;
    this.#trace = opened.trace;
    this.name = opened.name;
    this.startNs = opened.startNs;
    this.length = opened.length;
    line.traces += 1;
    const why = this.#gone();
    leaked.register(this, () => line.release(opened.trace, why), this);
  }

  #call<T>(method: Method, ...given: unknown[]): Promise<T> {
    if (this.#disposed) return Promise.reject(this.#gone());
    return this.#line.ask<T>({ do: "call", trace: this.#trace, method, arguments: given }, { holder: this });
  }

  #gone(): KinetoscopeError {
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

  /** The trace in another form; a wrong option fails the stream. */
  export<E extends keyof Exports>(name: E, options?: Exports[E]): ReadableStream<Uint8Array> {
    if (this.#disposed) throw this.#gone();
    // The stream holds on to the trace, without which the worker would end.
    const ask = <T>(message: Ask): Promise<T> => this.#line.ask<T>(message, { holder: this });
    const begun = ask<number>({ do: "export", trace: this.#trace, name, options });
    begun.catch(() => undefined);
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        const piece = await ask<Uint8Array | undefined>({ do: "pull", writing: await begun });
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
      async cancel() {
        await ask({ do: "cancel", writing: await begun });
      },
    });
  }

  /** Gives the memory back, and ends what is still being computed when it was the worker's last trace. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    leaked.unregister(this);
    this.#line.release(this.#trace, this.#gone());
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

export interface RemoteTrace extends RemoteAnswers {}

for (const [query, isOneRow] of Object.entries(QUERIES) as [keyof Queries, boolean][]) {
  const method = async function (this: RemoteTrace, options?: object): Promise<unknown> {
    const rows = await this.rows(query, options);
    return isOneRow ? rows[0] : rows;
  };
  Object.defineProperty(RemoteTrace.prototype, query, { value: method, configurable: true, writable: true });
}

/** A source as it can be posted, and what of it goes over. */
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
  /** As `open` of the package itself, in a worker of its own; aborting ends the worker. */
  open(source: Source, options?: OpenOptions): Promise<RemoteTrace>;
  open(sources: readonly Source[], options?: OpenOptions): Promise<RemoteTrace[]>;
}

export function createRemoteClient(spawn: Spawn): RemoteClient {
  async function all(sources: readonly unknown[], options: OpenOptions): Promise<RemoteTrace[]> {
    const { signal, onProgress, memoryLimit } = options;
    check(signal);
    const wires: WireSource[] = [];
    const transfer: Transferable[] = [];
    for (const source of sources) {
      const [wire, buffers] = await wireOf(source, signal);
      wires.push(wire);
      transfer.push(...buffers);
    }
    const line = new Line(spawn);
    const abort = (): void => line.end(aborted(signal as AbortSignal));
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const request: Ask = { do: "open", sources: wires, memoryLimit, wantsProgress: onProgress !== undefined };
      const opened = await line.ask<Opened[]>(request, { transfer, onProgress });
      return opened.map((one) => new RemoteTrace(line, one));
    } catch (thrown) {
      line.end(asError(thrown, "internal"));
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
