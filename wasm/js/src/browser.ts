// The package on a page or in a worker of one's own: the engine is fetched from beside this file.

import { load } from "./engine.js";
import { createClient } from "./client.js";
import { gunzip } from "./gunzip.js";
import { inputOf, type Source } from "./source.js";

export * from "./public.js";

const ready = () => load(() => new URL("./kinetoscope.wasm", import.meta.url));

export const { open, repair } = createClient<Source>({ ready, input: inputOf, gunzip });
