// The engine of `kinetoscope/lite`.

import initialize from "./glue/lite.js";
import { createLoader } from "./loader.js";

export const { load, memoryBytes } = createLoader(initialize);
