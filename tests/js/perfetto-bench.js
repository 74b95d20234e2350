// Imports a trace with Perfetto's trace processor and counts its slices: `node perfetto-bench.js ENGINE_FOLDER FILE`.

import { createReadStream } from "node:fs";
import { CHUNK, traceProcessor } from "./perfetto.js";

const [folder, file] = process.argv.slice(2);
const processor = await traceProcessor(folder);
await processor.openChunks(createReadStream(file, { highWaterMark: CHUNK }));
const [{ slices }] = await processor.query("select count(*) as slices from slice");
if (Number(slices) === 0) throw new Error("the trace has no slices");
console.log(`${slices} slices`);
processor.close();
