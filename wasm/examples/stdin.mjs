// Prints PyTorch's table of a trace from standard input: `gzip -dc run.json.gz | node stdin.mjs`.

import { open } from "kinetoscope";

const trace = await open(process.stdin);
process.stdout.write(trace.table("ops", { sortBy: "self_cpu_time_total", rowLimit: 10 }));
