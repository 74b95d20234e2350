// `kinetoscope/lite` on a page or in your own worker: the engine is fetched from the folder of this file.

import { gunzip } from "../reading/gunzip.js";
import { createLiteClient } from "../client/lite-client.js";
import { load } from "../engine/lite.js";
import { inputOf, type Source } from "../base/source.js";

export * from "./lite-exports.js";

const ready = () => load(() => new URL("../lite.wasm", import.meta.url));

export const { open } = createLiteClient<Source>({ ready, input: inputOf, gunzip });
