// The engine of `kinetoscope/lite`.

import initialize, { __wbg_reset_state, initSync } from "../generated/glue/lite.js";
import { createLoader } from "./loader.js";

export const { load, memoryBytes } = createLoader({ initialize, initSync, __wbg_reset_state });
