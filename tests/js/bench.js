// Opens a trace, computes its summary, and prints time and memory as JSON: `node bench.js FILE|- [MEMORY_LIMIT]`.

import { Readable } from "node:stream";
import { memoryBytes, open } from "kinetoscope";

const [file, limit] = process.argv.slice(2);
const source = file === "-" ? Readable.toWeb(process.stdin) : file;
let textBytes = 0;
const begun = performance.now();
const trace = await open(source, {
  memoryLimit: limit === undefined ? undefined : Number(limit),
  onProgress: (progress) => (textBytes = progress.textBytes),
});
const opened = performance.now();
const openedBytes = memoryBytes();
trace.table("summary");
const done = performance.now();
const lost = trace.diagnostics().filter(({ severity }) => severity === "lost");
console.log(
  JSON.stringify({
    seconds: (done - begun) / 1000,
    open_seconds: (opened - begun) / 1000,
    events: trace.length,
    text_bytes: textBytes,
    opened_bytes: openedBytes,
    memory_bytes: memoryBytes(),
    lost: lost.map(({ code }) => code),
  }),
);
