// The entry point of a helper on a page.

import { serveHelper } from "./helper.js";

serveHelper();
