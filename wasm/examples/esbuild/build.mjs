// Bundles the page with esbuild, which copies the engine: `node build.mjs`.

import { build } from "esbuild";

await build({
  entryPoints: ["app.js"],
  bundle: true,
  format: "esm",
  loader: { ".wasm": "file" },
  outdir: "dist",
  logLevel: "error",
});
