// The complete engine.

import initialize, { __wbg_reset_state, initSync } from "../generated/glue/engine.js";
import { createLoader } from "./loader.js";

export type { WasmInput } from "./loader.js";

export const { load, loaded, code, memoryBytes } = createLoader({ initialize, initSync, __wbg_reset_state });
