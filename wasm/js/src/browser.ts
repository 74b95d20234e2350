// The package on a page or in your own worker: the engine is fetched from the folder of this file.

import { load } from "./engine.js";
import { createClient } from "./client.js";
import { gunzip } from "./gunzip.js";
import { inputOf, type Source } from "./source.js";

export * from "./public.js";

const ready = () => load(() => new URL("./kinetoscope.wasm", import.meta.url));

export const { open, repair, openRun, summarize, merge, diff, check, trend, outline } = createClient<Source>({
  ready,
  input: inputOf,
  gunzip,
});
