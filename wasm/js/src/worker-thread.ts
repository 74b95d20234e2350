// The worker itself, on a page: wiring only.

import { open, repair } from "./browser.js";
import type { Request } from "./protocol.js";
import { serve } from "./serve.js";

const scope = globalThis as unknown as Worker;
const take = serve(scope, { open, repair });
scope.onmessage = (event: MessageEvent<Request>) => void take(event.data);
