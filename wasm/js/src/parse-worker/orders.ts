// What a parse worker does: it parses pieces, or decompresses a stream.

import { parse_part, parse_segment } from "../generated/glue/engine.js";
import { load } from "../engine/complete.js";
import { guarded, KinetoscopeError } from "../base/errors.js";
import type { Gunzip, Order, ParsedPiece, Parses, Port, Result } from "./messages.js";
import { buffersOf, joined, Queue, type gather, type Piece } from "../base/pieces.js";
import { toWire } from "../base/posted-error.js";

function parsed(text: Piece, parses: Parses): ParsedPiece {
  const [only, ...others] = text;
  const parse = parses === "events" ? parse_segment : parse_part;
  const found = guarded(() => parse(only && others.length === 0 ? only : joined(text)));
  if (!found) return { text, segment: undefined };
  const segment = { start: found.start(), end: found.end(), bytes: found.encoded() as Uint8Array<ArrayBuffer> };
  found.free();
  return { text, segment };
}

/**
 * Returns a function that carries out orders and posts the results to `port`. `pieces` makes pieces of what `gunzip` yields, without a
 * copy if its chunks have buffers of their own.
 */
export function orderHandler(
  port: Port<Result>,
  gunzip: Gunzip | undefined,
  pieces: typeof gather,
): (order: Order) => Promise<void> {
  const chunks = new Queue<Uint8Array<ArrayBuffer> | undefined>();
  const wants = new Queue<undefined>();
  let isInflating = false;

  async function* compressed(): AsyncGenerator<Uint8Array> {
    for (;;) {
      port.postMessage({ is: "next" }, []);
      const chunk = await chunks.take();
      if (!chunk) return;
      yield chunk;
    }
  }

  async function inflate(): Promise<void> {
    if (!gunzip) throw new KinetoscopeError("internal", "this platform cannot decompress");
    for await (const piece of pieces(gunzip(compressed()))) {
      await wants.take();
      port.postMessage({ is: "piece", piece }, buffersOf(piece));
    }
    port.postMessage({ is: "piece", piece: undefined }, []);
  }

  async function carryOut(order: Order): Promise<void> {
    switch (order.do) {
      case "load":
        await load(() => order.code);
        return port.postMessage({ is: "ready" }, []);
      case "parse": {
        const piece = parsed(order.text, order.parses);
        const own = piece.segment ? [piece.segment.bytes.buffer] : [];
        return port.postMessage({ is: "parsed", piece }, [...buffersOf(piece.text), ...own]);
      }
      case "inflate":
        return chunks.push(order.chunk);
      case "want":
        wants.push(undefined);
        if (isInflating) return;
        isInflating = true;
        return inflate();
    }
  }

  return async (order) => {
    try {
      await carryOut(order);
    } catch (thrown) {
      port.postMessage({ is: "failed", error: toWire(thrown) }, []);
    }
  };
}
