// The entry point of a parse worker on a page.

import { serveParseWorker } from "./parse-worker.js";

serveParseWorker();
