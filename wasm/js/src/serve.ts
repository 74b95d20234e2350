// The worker's side of the protocol: holds the traces and answers requests.

import { KinetoscopeError } from "./errors.js";
import type { Client } from "./client.js";
import type { Comparison } from "./comparison.js";
import type { Port } from "./helping.js";
import type { Opened, OpenedOutline, OpenedRun, Reply, Request, WireSource } from "./protocol.js";
import type { Run } from "./run.js";
import type { Source } from "./source.js";
import type { ReadCounts } from "./open-options.js";
import type { Outline } from "./outline.js";
import type { RunProgress } from "./run-options.js";
import type { Trace } from "./trace.js";
import type { Exports } from "./queries.js";
import { toWire } from "./wire-error.js";

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

/** Returns a function that handles requests and posts the replies to `port`. */
export function serve(port: Port<Reply>, client: Omit<Client<Source>, "check">): (request: Request) => Promise<void> {
  const traces = new Map<number, Trace>();
  const answering = new Map<number, Run | Comparison | Outline>();
  const aborting = new Map<number, AbortController>();
  const writings = new Map<number, ReadableStreamDefaultReader<Uint8Array>>();
  let next = 0;

  function held<T>(from: Map<number, T>, id: number): T {
    const found = from.get(id);
    if (!found) throw new KinetoscopeError("disposed", "the trace, run, comparison or outline was disposed of");
    return found;
  }

  const progressOf = (id: number) => (progress: ReadCounts | RunProgress) => port.postMessage({ id, progress }, []);

  async function open(request: Request & { do: "open" }): Promise<Opened[]> {
    const { id, sources, memoryLimit, torchVersion, kernelRules, threads, executionTrace, wantsProgress } = request;
    const onProgress = wantsProgress ? progressOf(id) : undefined;
    const opened = await client.open(sources.map(sourceOf), {
      memoryLimit,
      torchVersion,
      kernelRules,
      threads,
      executionTrace: executionTrace && sourceOf(executionTrace),
      onProgress,
    });
    return opened.map(hold);
  }

  function hold(trace: Trace): Opened {
    traces.set(++next, trace);
    return { trace: next, name: trace.name, startNs: trace.startNs, length: trace.length };
  }

  async function outline({ id, source, threads, wantsProgress }: Request & { do: "outline" }): Promise<OpenedOutline> {
    const onProgress = wantsProgress ? progressOf(id) : undefined;
    const outline = await client.outline(sourceOf(source), { threads, onProgress });
    answering.set(++next, outline);
    return { outline: next, name: outline.name, length: outline.length, time: outline.time };
  }

  async function readWindow(request: Request & { do: "window" }): Promise<Opened> {
    const { id, outline, time, options, wantsProgress } = request;
    const controller = new AbortController();
    aborting.set(id, controller);
    try {
      const onProgress = wantsProgress ? progressOf(id) : undefined;
      const { signal } = controller;
      const from = held(answering, outline) as Outline;
      return hold(await from.window(...time, { ...options, onProgress, signal }));
    } finally {
      aborting.delete(id);
    }
  }

  async function openRun({ files, notes }: Request & { do: "run" }): Promise<OpenedRun> {
    const run = await client.openRun(files, { notes });
    answering.set(++next, run);
    return { run: next, length: run.length, notes: run.notes };
  }

  async function compare({ id, sources, options, wantsProgress }: Request & { do: "diff" }): Promise<number> {
    const side = (isBase: boolean) => sources.filter((one) => one.isBase === isBase).map(({ wire }) => sourceOf(wire));
    const onProgress = wantsProgress ? progressOf(id) : undefined;
    answering.set(++next, await client.diff(side(true), side(false), { ...options, onProgress }));
    return next;
  }

  function write(stream: ReadableStream<Uint8Array>): number {
    writings.set(++next, stream.getReader());
    return next;
  }

  async function answer(request: Request): Promise<unknown> {
    switch (request.do) {
      case "open":
        return open(request);
      case "call": {
        const trace = held(traces, request.trace);
        const method = trace[request.method] as (...given: unknown[]) => unknown;
        return method.apply(trace, request.arguments);
      }
      case "summarize": {
        const { id, source, options, wantsProgress } = request;
        return client.summarize(sourceOf(source), wantsProgress ? { ...options, onProgress: progressOf(id) } : options);
      }
      case "run":
        return openRun(request);
      case "diff":
        return compare(request);
      case "trend":
        return client.trend(sourceOf(request.source));
      case "outline":
        return outline(request);
      case "window":
        return readWindow(request);
      case "abort":
        aborting.get(request.request)?.abort();
        return undefined;
      case "ask": {
        const one = held(answering, request.held);
        const method = Reflect.get(one, request.method) as (...given: unknown[]) => unknown;
        return method.apply(one, request.arguments);
      }
      case "merge":
        return write(await client.merge(request.sources.map(sourceOf), request.options));
      case "export":
        return write(held(traces, request.trace).export(request.name as keyof Exports, request.options as object));
      case "pull": {
        const { done, value } = await held(writings, request.writing).read();
        if (done) writings.delete(request.writing);
        return value;
      }
      case "cancel":
        await writings.get(request.writing)?.cancel();
        writings.delete(request.writing);
        return undefined;
      case "dispose":
        traces.get(request.trace)?.dispose();
        traces.delete(request.trace);
        answering.get(request.trace)?.dispose();
        answering.delete(request.trace);
        return undefined;
    }
  }

  return async (request) => {
    try {
      const value = await answer(request);
      port.postMessage({ id: request.id, value }, buffersOf(value));
    } catch (thrown) {
      port.postMessage({ id: request.id, error: toWire(thrown) }, []);
    }
  };
}
