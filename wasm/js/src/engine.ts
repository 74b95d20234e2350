// The complete engine.

import initialize from "./glue/engine.js";
import { createLoader } from "./loader.js";

export type { WasmInput } from "./loader.js";

export const { load, loaded, code, memoryBytes } = createLoader(initialize);
