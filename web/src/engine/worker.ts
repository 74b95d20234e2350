// The worker: is given the compiled engine first, then requests. Wiring only.

import { init, open, repair } from "kinetoscope/init";
import type { Request } from "kinetoscope/remote";
import { serve } from "kinetoscope/serve";

/** What the worker is told before any request. */
export interface Begin {
  code: WebAssembly.Module;
}

const scope = globalThis as unknown as Worker;
const take = serve(scope, { open, repair });

scope.onmessage = ({ data }: MessageEvent<Begin | Request>) => {
  if ("code" in data) void init(data.code);
  else void take(data);
};
