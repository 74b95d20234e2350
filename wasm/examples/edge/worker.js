// An edge worker that answers with the summary of the trace in the body of a request. The platform compiles the engine when it imports the
// file. The body is read as a stream; the address of the request is never fetched.

import { KinetoscopeError, init, open } from "kinetoscope/init";
import wasm from "kinetoscope/kinetoscope.wasm";

const STATUS = { empty: 400, not_a_trace: 400, bad_source: 400 };

export default {
  async fetch(request) {
    if (request.method !== "POST" || !request.body) return new Response("POST a trace", { status: 405 });
    await init(wasm);
    try {
      // An edge worker has 128 MB.
      const trace = await open(request.body, { memoryLimit: 64 << 20, signal: request.signal });
      const answer = trace.json("summary");
      trace.dispose();
      return new Response(answer, { headers: { "content-type": "application/json" } });
    } catch (error) {
      if (!(error instanceof KinetoscopeError)) throw error;
      return new Response(error.message, { status: STATUS[error.code] ?? 500 });
    }
  },
};
