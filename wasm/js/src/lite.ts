// `kinetoscope/lite` on a page or in your own worker: the engine is fetched from the folder of this file.

import { gunzip } from "./gunzip.js";
import { createLiteClient } from "./lite-client.js";
import { load } from "./lite-engine.js";
import { inputOf, type Source } from "./source.js";

export * from "./lite-public.js";

const ready = () => load(() => new URL("./lite.wasm", import.meta.url));

export const { open } = createLiteClient<Source>({ ready, input: inputOf, gunzip });
