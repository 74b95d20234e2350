// The package in Node: the engine is read from the folder of this file.

import { readFile } from "node:fs/promises";
import { load } from "./engine.js";
import { createClient } from "./client.js";
import { gunzip, inputOf } from "./node-input.js";
import type { Source } from "./source.js";

export * from "./public.js";

const ready = () => load(async () => readFile(new URL("./kinetoscope.wasm", import.meta.url)));

export const { open, repair, openRun, summarize, merge, diff, check, trend, outline } = createClient<Source>({
  ready,
  input: inputOf,
  gunzip,
});
