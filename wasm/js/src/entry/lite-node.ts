// `kinetoscope/lite` in Node: the engine is read from the folder of this file.

import { readFile } from "node:fs/promises";
import { createLiteClient } from "../client/lite-client.js";
import { load } from "../engine/lite.js";
import { gunzip, inputOf } from "../reading/node.js";
import type { Source } from "../base/source.js";

export * from "./lite-exports.js";

const ready = () => load(async () => readFile(new URL("../lite.wasm", import.meta.url)));

export const { open } = createLiteClient<Source>({ ready, input: inputOf, gunzip });
