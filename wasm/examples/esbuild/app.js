// A page that shows the operators of a trace. esbuild replaces the import of the engine by its address next to this file.

import { init, open } from "kinetoscope/init";
import wasm from "kinetoscope/kinetoscope.wasm";

await init(new URL(wasm, import.meta.url));
const trace = await open(await fetch("/trace.json.gz"));
document.body.textContent = trace.table("ops", { rowLimit: 10 });
document.title = `${trace.length} events`;
trace.dispose();
