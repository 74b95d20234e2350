// Bundles the extension, the script of its webview and the worker: `node build.mjs`.

import { build } from "esbuild";
import { copyFileSync } from "node:fs";
import { createRequire } from "node:module";

const common = { bundle: true, outdir: "dist", logLevel: "error" };
await build({ ...common, entryPoints: ["extension.js"], platform: "node", format: "cjs", external: ["vscode"] });
await build({ ...common, entryPoints: ["webview.js", "worker.js"], format: "iife" });
copyFileSync(createRequire(import.meta.url).resolve("kinetoscope/kinetoscope.wasm"), "dist/kinetoscope.wasm");
