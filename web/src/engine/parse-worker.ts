// A worker that parses for the worker of a trace.

import { serveParseWorker } from "kinetoscope/parse-worker";

serveParseWorker();
