// Sources as they are posted to a worker.

import { bytesOf, classOf } from "../base/chunks.js";
import { KinetoscopeError } from "../base/errors.js";
import { describe } from "../reading/open.js";
import type { WireSource } from "./protocol.js";
import { inputOf, streamOf } from "../base/source.js";

/** Converts a source for posting. Returns it with the objects to transfer. */
export async function wireOf(source: unknown, signal: AbortSignal | undefined): Promise<[WireSource, Transferable[]]> {
  const bytes = bytesOf(source);
  if (bytes) return [{ kind: "bytes", bytes }, []];
  if (typeof source === "string") return [{ kind: "place", place: absolute(source), isUrl: false }, []];
  switch (classOf(source)) {
    case "Blob":
    case "File": {
      const blob = source as Blob;
      return [{ kind: "blob", name: "name" in blob ? String(blob.name) : "blob", blob }, []];
    }
    case "URL":
      return [{ kind: "place", place: (source as URL).href, isUrl: true }, []];
  }
  const input = await inputOf(source, signal);
  if (!input) throw new KinetoscopeError("bad_source", `cannot read a trace from ${describe(source)}`);
  // Not the stream of the caller: when the signal is aborted, it is cancelled here with the reason.
  const stream = streamOf(input.chunks(0, signal));
  return [{ kind: "stream", name: input.name, size: input.size, stream }, [stream]];
}

/** The worker has another address than the page. */
function absolute(place: string): string {
  return typeof document === "undefined" ? place : new URL(place, document.baseURI).href;
}
