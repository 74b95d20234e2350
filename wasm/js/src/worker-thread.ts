// The entry point of the worker on a page.

import { createClient } from "./client.js";
import { load } from "./engine.js";
import { gunzip } from "./gunzip.js";
import { helpingBy } from "./helping-browser.js";
import type { Request } from "./protocol.js";
import { serve } from "./serve.js";
import { inputOf, type Source } from "./source.js";

const client = createClient<Source>({
  ready: () => load(() => new URL("./kinetoscope.wasm", import.meta.url)),
  input: inputOf,
  gunzip,
  helping: helpingBy(() => new Worker(new URL("./helper-thread.js", import.meta.url), { type: "module" })),
});

const scope = globalThis as unknown as Worker;
const handle = serve(scope, client);
scope.onmessage = (event: MessageEvent<Request>) => void handle(event.data);
