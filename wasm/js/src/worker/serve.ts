// The worker's side of the protocol: holds the traces and answers requests.

import { memoryBytes } from "../engine/complete.js";
import { KinetoscopeError } from "../base/errors.js";
import type { Client } from "../client/client.js";
import type { Comparison } from "../client/comparison.js";
import type { Port } from "../parse-worker/messages.js";
import type { Opened, OpenedOutline, OpenedRun, Reply, Request, WireSource } from "./protocol.js";
import type { Run } from "../client/run.js";
import type { Source } from "../base/source.js";
import type { ReadCounts } from "../options/open.js";
import type { Outline } from "../client/outline.js";
import type { RunProgress } from "../options/run.js";
import type { Trace } from "../client/trace.js";
import type { Exports, Queries } from "../generated/queries.js";
import { toWire } from "../base/posted-error.js";

function sourceOf(wire: WireSource): Source {
  switch (wire.kind) {
    case "blob":
      return new File([wire.blob], wire.name);
    case "bytes":
      return wire.bytes;
    case "place":
      return wire.isUrl ? new URL(wire.place) : wire.place;
    case "stream":
      return named(wire.name, wire.size, wire.stream);
  }
}

/** Wraps a stream with its name and size in a `Response`. */
function named(name: string, size: number | undefined, stream: ReadableStream<Uint8Array>): Source {
  const response = new Response(stream, size === undefined ? {} : { headers: { "content-length": String(size) } });
  Object.defineProperty(response, "url", { value: encodeURIComponent(name) });
  return response;
}

/** Returns the buffers of a result that are transferred instead of copied. */
function buffersOf(value: unknown, depth = 4): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) return [value.buffer as ArrayBuffer];
  if (depth === 0 || typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.values(value).flatMap((member) => buffersOf(member, depth - 1));
}

/** What is held for the page. */
type HeldObject = Trace | Run | Comparison | Outline;

/** Returns a function that handles requests and posts the replies to `port`. */
export function serve(port: Port<Reply>, client: Client<Source>): (request: Request) => Promise<void> {
  const objects = new Map<number, HeldObject>();
  const aborting = new Map<number, AbortController>();
  const writings = new Map<number, ReadableStreamDefaultReader<Uint8Array>>();
  let next = 0;

  function found<T>(from: Map<number, T>, id: number): T {
    const one = from.get(id);
    if (!one) throw new KinetoscopeError("disposed", "the trace, run, comparison or outline was disposed of");
    return one;
  }

  function hold(one: HeldObject): number {
    objects.set(++next, one);
    return next;
  }

  /** The signal and the progress of a request. */
  function reading({ id, wantsProgress }: { id: number; wantsProgress?: boolean }, { signal }: AbortController) {
    const onProgress = (progress: ReadCounts | RunProgress): void => port.postMessage({ id, progress }, []);
    return { signal, onProgress: wantsProgress ? onProgress : undefined };
  }

  async function open(request: Request & { do: "open" }, controller: AbortController): Promise<Opened[]> {
    const { sources, memoryLimit, rules, threads, executionTrace, captures, provenance } = request;
    const opened = await client.open(sources.map(sourceOf), {
      memoryLimit,
      ...rules,
      threads,
      executionTrace: executionTrace && sourceOf(executionTrace),
      captures: captures.map(sourceOf),
      provenance: provenance.map(sourceOf),
      ...reading(request, controller),
    });
    return opened.map(holdTrace);
  }

  function holdTrace(trace: Trace): Opened {
    return { trace: hold(trace), name: trace.name, startNs: trace.startNs, length: trace.length };
  }

  async function outline(request: Request & { do: "outline" }, controller: AbortController): Promise<OpenedOutline> {
    const { source, threads } = request;
    const outline = await client.outline(sourceOf(source), { threads, ...reading(request, controller) });
    return { outline: hold(outline), name: outline.name, length: outline.length, time: outline.time };
  }

  async function readWindow(request: Request & { do: "window" }, controller: AbortController): Promise<Opened> {
    const { outline, time, options } = request;
    const from = found(objects, outline) as Outline;
    return holdTrace(await from.window(...time, { ...options, ...reading(request, controller) }));
  }

  async function openRun({ files, notes }: Request & { do: "run" }, signal: AbortSignal): Promise<OpenedRun> {
    const run = await client.openRun(files, { notes, signal });
    return { run: hold(run), length: run.length, notes: run.notes };
  }

  async function compare(request: Request & { do: "diff" }, controller: AbortController): Promise<number> {
    const { sources, options } = request;
    const side = (isBase: boolean) => sources.filter((one) => one.isBase === isBase).map(({ wire }) => sourceOf(wire));
    return hold(await client.diff(side(true), side(false), { ...options, ...reading(request, controller) }));
  }

  function write(stream: ReadableStream<Uint8Array>): number {
    writings.set(++next, stream.getReader());
    return next;
  }

  async function answer(request: Request, controller: AbortController): Promise<unknown> {
    const { signal } = controller;
    switch (request.do) {
      case "open":
        return open(request, controller);
      case "summarize":
        return client.summarize(sourceOf(request.source), { ...request.options, ...reading(request, controller) });
      case "run":
        return openRun(request, signal);
      case "diff":
        return compare(request, controller);
      case "check": {
        const base = request.bases.map(sourceOf);
        return client.check(request.sources.map(sourceOf), request.budgets, { ...request.options, base, signal });
      }
      case "trend":
        return client.trend(sourceOf(request.source), { signal });
      case "outline":
        return outline(request, controller);
      case "window":
        return readWindow(request, controller);
      case "abort":
        return aborting.get(request.request)?.abort();
      case "ask": {
        const one = found(objects, request.held);
        const method = Reflect.get(one, request.method) as (...given: unknown[]) => unknown;
        return method.apply(one, request.arguments);
      }
      case "merge":
        return write(await client.merge(request.sources.map(sourceOf), { ...request.options, signal }));
      case "repair":
        return write(await client.repair(sourceOf(request.source), { signal }));
      case "export": {
        const trace = found(objects, request.held) as Trace;
        return write(trace.export(request.name as keyof Exports, request.options as object));
      }
      case "stream": {
        const trace = found(objects, request.held) as Trace;
        return write(trace.stream(request.query as keyof Queries, request.options));
      }
      case "pull": {
        const { done, value } = await found(writings, request.writing).read();
        if (done) writings.delete(request.writing);
        return value;
      }
      case "cancel":
        await writings.get(request.writing)?.cancel();
        writings.delete(request.writing);
        return undefined;
      case "memory":
        return memoryBytes();
      case "dispose":
        objects.get(request.held)?.dispose();
        objects.delete(request.held);
        return undefined;
    }
  }

  return async (request) => {
    const { id } = request;
    const controller = new AbortController();
    aborting.set(id, controller);
    try {
      const value = await answer(request, controller);
      port.postMessage({ id, value }, buffersOf(value));
    } catch (thrown) {
      port.postMessage({ id, error: toWire(thrown) }, []);
    } finally {
      aborting.delete(id);
    }
  };
}
