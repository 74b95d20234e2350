// Runs after tsc: copies the glue, writes the engine as base64 for `kinetoscope/inline`, and the entries for CommonJS.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

mkdirSync("dist/glue", { recursive: true });
for (const file of ["engine.js", "engine.d.ts", "lite.js", "lite.d.ts"])
  copyFileSync(`src/glue/${file}`, `dist/glue/${file}`);
const wasm = readFileSync("dist/kinetoscope.wasm").toString("base64");
writeFileSync("dist/wasm-text.js", `export const WASM = "${wasm}";\n`);
rmSync("dist/wasm-text.d.ts", { force: true });

// `await require("kinetoscope").load()`: the entries are ES modules, which CommonJS can only import.
const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
for (const entry of Object.values(exports)) {
  const { import: module, require: loader } = entry.node ?? entry;
  if (!loader) continue;
  const from = module.default.replace("./dist/", "./");
  writeFileSync(loader.default, `exports.load = () => import("${from}");\n`);
  writeFileSync(
    loader.types,
    `type Entry = typeof import("${from}", { with: { "resolution-mode": "import" } });\n` +
      "/** Loads this entry, which is an ES module. */\n" +
      "declare function load(): Promise<Entry>;\n" +
      "export { load };\n",
  );
}
