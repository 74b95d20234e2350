// The worker of a trace. Its first message is the compiled engine, the others are requests.

import { check, diff, init, merge, open, openRun, outline, repair, summarize, trend } from "kinetoscope/init";
import type { Request } from "kinetoscope/remote";
import { serve } from "kinetoscope/serve";
import ParseWorker from "./parse-worker?worker&inline";

/** The first message to the worker. */
export interface Begin {
  code: WebAssembly.Module;
}

const scope = globalThis as unknown as Worker;
const handle = serve(scope, { open, repair, openRun, summarize, merge, diff, check, trend, outline });

scope.onmessage = ({ data }: MessageEvent<Begin | Request>) => {
  if ("code" in data) void init(data.code, { parseWorker: () => new ParseWorker() });
  else void handle(data);
};
