// The entry point of the worker on a page.

import { createClient } from "../client/client.js";
import { load } from "../engine/complete.js";
import { gunzip } from "../reading/gunzip.js";
import { parseWorkersOf } from "../parse-worker/browser.js";
import type { Request } from "../worker/protocol.js";
import { serve } from "../worker/serve.js";
import { inputOf, type Source } from "../base/source.js";

const client = createClient<Source>({
  ready: () => load(() => new URL("../kinetoscope.wasm", import.meta.url)),
  input: inputOf,
  gunzip,
  parseWorkers: parseWorkersOf(() => new Worker(new URL("./parse-thread.js", import.meta.url), { type: "module" })),
});

const scope = globalThis as unknown as Worker;
const handle = serve(scope, client);
scope.onmessage = (event: MessageEvent<Request>) => void handle(event.data);
