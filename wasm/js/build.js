// Runs after tsc: copies the glue, writes the engine as base64 for `kinetoscope/inline`, the declarations of the engines, the entries for
// CommonJS, and the imports of the types of the web platform.

import { dirname, relative } from "node:path";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";

mkdirSync("dist/generated/glue", { recursive: true });
for (const file of ["engine.js", "engine.d.ts", "lite.js", "lite.d.ts"])
  copyFileSync(`src/generated/glue/${file}`, `dist/generated/glue/${file}`);
const wasm = readFileSync("dist/kinetoscope.wasm").toString("base64");
writeFileSync("dist/engine/wasm-text.js", `export const WASM = "${wasm}";\n`);
rmSync("dist/engine/wasm-text.d.ts", { force: true });

// What an import of an engine gives depends on the bundler: an address, or a compiled module.
for (const name of ["kinetoscope", "lite"]) {
  const type = 'declare const wasm: import("./engine/loader.js").WasmInput;\nexport default wasm;\n';
  writeFileSync(`dist/${name}.wasm.d.ts`, type);
}

/** An entry for CommonJS. The entries are ES modules, which CommonJS can only import: `await require("kinetoscope").load()`. */
function loader(entry, from) {
  const name = entry.replace(/^\./, "kinetoscope");
  return `const load = () => import("${from}");
const known = (key) => typeof key === "symbol" || ["load", "then", "default", "toJSON", "__esModule"].includes(key);
module.exports = new Proxy({ load }, {
  get(entry, key) {
    if (known(key)) return entry[key];
    throw new Error(\`${name} is an ES module: use (await require("${name}").load()).\${key}\`);
  },
});
// For programs that look for the names of the exports.
0 && (module.exports = { load });
`;
}

const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
for (const [name, entry] of Object.entries(exports)) {
  const { import: module, require: required } = entry.node ?? entry;
  if (!required) continue;
  const from = module.default.replace("./dist/", "./");
  writeFileSync(required.default, loader(name, from));
  writeFileSync(
    required.types,
    `type Entry = typeof import("${from}", { with: { "resolution-mode": "import" } });\n` +
      "/** Loads this entry, which is an ES module. */\n" +
      "declare function load(): Promise<Entry>;\n" +
      "export { load };\n",
  );
}

const webTypes = Array.from(
  readFileSync("dist/base/web.d.ts", "utf8").matchAll(/^export (?:declare )?(?:type|namespace) (\w+)/gm),
  ([, name]) => name,
);

/** Returns a declaration with imports of the types of the web platform, and the library that has `Symbol.dispose`. */
function complete(text, path) {
  const isOwn = (name) =>
    new RegExp(`^import .*\\b${name}\\b|^export (declare )?(type|interface) ${name}\\b`, "m").test(text);
  const used = webTypes.filter((name) => new RegExp(`\\b${name}\\b`).test(text) && !isOwn(name));
  const library = text.includes("Symbol.dispose") ? '/// <reference lib="esnext.disposable" />\n' : "";
  const way = relative(dirname(path), "base/web.js");
  const place = way.startsWith(".") ? way : `./${way}`;
  return library + (used.length > 0 ? `import type { ${used.join(", ")} } from "${place}";\n` : "") + text;
}

for (const path of readdirSync("dist", { recursive: true })) {
  if (!path.endsWith(".d.ts") || path === "base/web.d.ts") continue;
  writeFileSync(`dist/${path}`, complete(readFileSync(`dist/${path}`, "utf8"), path));
}
