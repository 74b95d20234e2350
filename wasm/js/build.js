// After the compiler: what tsc does not copy, and the engine as text for `kinetoscope/inline`.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

mkdirSync("dist/glue", { recursive: true });
for (const file of ["engine.js", "engine.d.ts"]) copyFileSync(`src/glue/${file}`, `dist/glue/${file}`);
const wasm = readFileSync("dist/kinetoscope.wasm").toString("base64");
writeFileSync("dist/wasm-text.js", `export const WASM = "${wasm}";\n`);
rmSync("dist/wasm-text.d.ts", { force: true });
