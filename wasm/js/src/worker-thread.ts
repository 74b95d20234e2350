// The entry point of the worker on a page.

import { diff, merge, open, openRun, repair, summarize, trend } from "./browser.js";
import type { Request } from "./protocol.js";
import { serve } from "./serve.js";

const scope = globalThis as unknown as Worker;
const handle = serve(scope, { open, repair, openRun, summarize, merge, diff, trend });
scope.onmessage = (event: MessageEvent<Request>) => void handle(event.data);
