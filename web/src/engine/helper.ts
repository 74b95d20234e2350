// A worker that helps the worker of a trace to read it.

import { serveHelper } from "kinetoscope/helper";

serveHelper();
