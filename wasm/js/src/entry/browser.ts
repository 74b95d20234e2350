// The package on a page or in your own worker: the engine is fetched from the folder of this file.

import { load } from "../engine/complete.js";
import { createClient } from "../client/client.js";
import { gunzip } from "../reading/gunzip.js";
import { inputOf, type Source } from "../base/source.js";

export * from "./local-exports.js";

const ready = () => load(() => new URL("../kinetoscope.wasm", import.meta.url));

export const { open, repair, openRun, summarize, merge, diff, check, trend, outline } = createClient<Source>({
  ready,
  input: inputOf,
  gunzip,
});
