// Sources as they are posted to a worker.

import { KinetoscopeError } from "./errors.js";
import type { WireSource } from "./protocol.js";
import { inputOf, streamOf } from "./source.js";

/** Converts a source for posting. Returns it with the objects to transfer. */
export async function wireOf(source: unknown, signal: AbortSignal | undefined): Promise<[WireSource, Transferable[]]> {
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
