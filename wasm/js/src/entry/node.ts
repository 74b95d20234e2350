// The package in Node: the engine is read from the folder of this file.

import { readFile } from "node:fs/promises";
import { load } from "../engine/complete.js";
import { createClient } from "../client/client.js";
import { gunzip, inputOf } from "../reading/node.js";
import type { Source } from "../base/source.js";

export * from "./local-exports.js";

const ready = () => load(async () => readFile(new URL("../kinetoscope.wasm", import.meta.url)));

export const { open, repair, openRun, summarize, merge, diff, check, trend, outline } = createClient<Source>({
  ready,
  input: inputOf,
  gunzip,
});
