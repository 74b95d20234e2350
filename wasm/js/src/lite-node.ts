// `kinetoscope/lite` in Node: the engine is read from the folder of this file.

import { readFile } from "node:fs/promises";
import { createLiteClient } from "./lite-client.js";
import { load } from "./lite-engine.js";
import { gunzip, inputOf } from "./node-input.js";
import type { Source } from "./source.js";

export * from "./lite-public.js";

const ready = () => load(async () => readFile(new URL("./lite.wasm", import.meta.url)));

export const { open } = createLiteClient<Source>({ ready, input: inputOf, gunzip });
