// Installs the packed package into empty projects: Node, TypeScript, three bundlers, and Chromium with a strict content
// security policy.

import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { CHROMIUM } from "./browser.js";
import { data } from "./files.js";
import { MEDIA_TYPES, installer, run, titleOf, tools } from "./installed.js";

const trace = `${data}/torch/kineto/transformer_training/trace.json.gz`;

const { place, tarball, project } = installer("install-test");

let browser;

before(async () => (browser = await chromium.launch(CHROMIUM)));
after(() => browser?.close());

test("the tarball contains only the expected kinds of files", () => {
  const names = run(place, "tar", "-tzf", tarball()).trim().split("\n");
  const kinds = new Set(names.map((name) => name.replace(/^package\//, "").replace(/^dist\/.*(?=\.)/, "dist/*")));
  assert.ok(names.includes("package/dist/kinetoscope.wasm"));
  const allowed = /^(package\.json|README\.md|LICENSE-(MIT|APACHE)|dist\/\*\.(js|cjs|wasm|ts|cts))$/;
  for (const kind of kinds) assert.match(kind, allowed);
});

test("Node: import", () => {
  const folder = project("node-esm", {
    "main.mjs": `
      import { open } from "kinetoscope";
      import { open as inWorker } from "kinetoscope/worker";
      import { init, open as supplied } from "kinetoscope/init";
      import { readFile } from "node:fs/promises";
      import { open as inlined } from "kinetoscope/inline";
      import { open as small } from "kinetoscope/lite";
      import manifest from "kinetoscope/package.json" with { type: "json" };
      const path = process.argv[2];
      await init(readFile(new URL(import.meta.resolve("kinetoscope/kinetoscope.wasm"))));
      const bytes = await readFile(path);
      const traces = [await open(path), await inWorker(path), await supplied(bytes), await inlined(bytes)];
      traces.push(await small(path));
      console.log(manifest.name, ...traces.map((trace) => trace.length));
      for (const trace of traces) trace.dispose();
    `,
  });
  assert.equal(run(folder, "node", "--no-warnings", "main.mjs", trace), "kinetoscope 2576 2576 2576 2576 2576\n");
});

test("Node: require of an asynchronous loader", () => {
  const folder = project("node-cjs", {
    "main.cjs": `
      require("kinetoscope").load().then(async ({ open }) => {
        const trace = await open(process.argv[2]);
        const inWorker = await require("kinetoscope/worker").load();
        const there = await inWorker.open(process.argv[2]);
        const small = await (await require("kinetoscope/lite").load()).open(process.argv[2]);
        console.log(trace.summary().lost, trace.length, there.length, small.length);
        there.dispose();
      });
    `,
  });
  assert.equal(run(folder, "node", "main.cjs", trace), "0 2576 2576 2576\n");
});

test("Node: require states what to write instead", () => {
  const folder = project("node-cjs-stub", {
    "main.cjs": `
      try {
        require("kinetoscope/worker").open("a.json");
      } catch (error) {
        console.log(error.message);
      }
      console.log(Object.keys(require("kinetoscope")), JSON.stringify(require("kinetoscope")));
    `,
  });
  const message = 'kinetoscope/worker is an ES module: use (await require("kinetoscope/worker").load()).open';
  assert.equal(run(folder, "node", "main.cjs"), `${message}\n[ 'load' ] {}\n`);
});

const STRICT = ["--strict", "--noEmit", "--target", "es2022", "--exactOptionalPropertyTypes"];

const EVERY_EXPORT = readFileSync(new URL("every-export.ts", import.meta.url), "utf8");

test("TypeScript accepts a program that uses every export", () => {
  const folder = project("types", { "src/main.ts": EVERY_EXPORT }, { type: "module" });
  for (const [module, moduleResolution, lib] of [
    ["nodenext", "nodenext", "es2022"],
    ["esnext", "bundler", "es2022"],
    ["esnext", "bundler", "esnext"],
  ]) {
    const how = ["--module", module, "--moduleResolution", moduleResolution, "--lib", `${lib},esnext.disposable,dom`];
    run(folder, `${tools}/.bin/tsc`, ...STRICT, ...how, "--types", "", "src/main.ts");
  }
});

const ANYWHERE = `
  import { check, open, type Source } from "kinetoscope";
  import { createPool, open as inWorker, type RemotePool } from "kinetoscope/worker";
  import { init } from "kinetoscope/init";
  import "kinetoscope/columns";
  import "kinetoscope/parse-worker";
  import "kinetoscope/inline";
  import { open as openLite } from "kinetoscope/lite";
  import "kinetoscope/remote";
  import "kinetoscope/serve";
  import wasm from "kinetoscope/kinetoscope.wasm";
  export async function main(source: Source, bytes: Uint8Array): Promise<number> {
    await init(wasm);
    const trace = await open(source);
    const pool: RemotePool = createPool({ workers: 2 });
    const wall: number = trace.summary().wall_ns + (await (await inWorker("a.json")).summary()).wall_ns;
    return wall + (await pool.open(bytes)).length + (await openLite("a.json")).length + (await check("a", {})).rows.length;
  }
`;

test("TypeScript accepts a program without the types of a page", () => {
  const folder = project("types-anywhere", { "src/main.ts": ANYWHERE }, { type: "module" });
  cpSync(`${tools}/@types/node`, join(folder, "node_modules/@types/node"), { recursive: true });
  cpSync(`${tools}/undici-types`, join(folder, "node_modules/undici-types"), { recursive: true });
  const how = ["--module", "nodenext", "--moduleResolution", "nodenext"];
  for (const [lib, types] of [
    ["es2022", ""],
    ["es2022", "node"],
    ["es2022,webworker", ""],
    ["es2022,dom", "node"],
  ]) {
    run(folder, `${tools}/.bin/tsc`, ...STRICT, ...how, "--lib", lib, "--types", types, "src/main.ts");
  }
});

test("publint and are-the-types-wrong find nothing, also for resolvers that do not support exports", () => {
  run(place, `${tools}/.bin/publint`, "run", tarball(), "--strict");
  // An engine is an ES module by its type, which CommonJS cannot load.
  const excluded = ["--exclude-entrypoints", "kinetoscope.wasm", "lite.wasm"];
  run(place, `${tools}/.bin/attw`, tarball(), "--profile", "strict", ...excluded);
});

const APP = `
  import { open } from "kinetoscope";
  import { open as inWorker } from "kinetoscope/worker";
  import { open as openLite } from "kinetoscope/lite";
  const answer = async () => {
    const file = await (await fetch("/trace.json.gz")).blob();
    const here = await open(file);
    const there = await inWorker(file);
    const [a, b, c] = [here.json("ops"), await there.json("ops"), (await openLite(file)).json("ops")];
    const tiles = await there.tiles({ track: 0, startNs: 0, endNs: 5e6, pixels: 100 });
    const bad = await open(new Blob(["<html>"])).catch((error) => error.code);
    return { length: here.length, same: a === b && a === c, tiles: tiles.length > 0, bad };
  };
  answer().then((value) => (document.title = JSON.stringify(value)), (error) => (document.title = String(error)));
`;

const PAGE = `<!doctype html><meta charset="utf-8"><title>waiting</title><script type="module" src="SCRIPT"></script>`;

/** Serves a folder with a policy that allows only its own files, and returns the title that the page sets. */
async function answerOf(folder, page = "index.html") {
  const policy = "default-src 'none'; connect-src 'self'; worker-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
  const server = createServer((request, response) => {
    const path = request.url === "/trace.json.gz" ? trace : join(folder, request.url.split("?")[0]);
    try {
      const bytes = readFileSync(path);
      const type = MEDIA_TYPES[extname(path)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type, "content-security-policy": policy }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await titleOf(browser, `http://127.0.0.1:${server.address().port}/${page}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const EXPECTED = JSON.stringify({ length: 2576, same: true, tiles: true, bad: "not_a_trace" });

test("Chromium: without a bundler", async () => {
  const folder = project("plain", {
    "app.js": APP.replaceAll(/"kinetoscope\/?(\w*)"/g, (_, entry) => `"./package/entry/${entry || "browser"}.js"`),
  });
  cpSync(join(folder, "node_modules/kinetoscope/dist"), join(folder, "package"), { recursive: true });
  writeFileSync(join(folder, "index.html"), PAGE.replace("SCRIPT", "./app.js"));
  assert.equal(await answerOf(folder), EXPECTED);
});

test("Chromium: Vite", async () => {
  const files = { "src/app.js": APP, "index.html": PAGE.replace("SCRIPT", "/src/app.js") };
  const folder = project("vite", files, { type: "module" });
  run(folder, `${tools}/.bin/vite`, "build", "--logLevel", "error");
  assert.equal(await answerOf(join(folder, "dist")), EXPECTED);
});

test("Chromium: webpack", async () => {
  const folder = project("webpack", { "src/index.js": APP });
  const config = { context: folder, entry: "./src/index.js", output: { path: join(folder, "dist") } };
  writeFileSync(join(folder, "webpack.config.cjs"), `module.exports = ${JSON.stringify(config)};`);
  run(folder, `${tools}/.bin/webpack`, "--mode", "production", "--config", "webpack.config.cjs");
  writeFileSync(join(folder, "dist/index.html"), PAGE.replace("SCRIPT", "./main.js"));
  assert.equal(await answerOf(join(folder, "dist")), EXPECTED);
});

test("Chromium: a single file, opened from disk", async () => {
  const app = `
    import { open } from "kinetoscope/inline";
    const bytes = Uint8Array.from(atob(TRACE), (character) => character.charCodeAt(0));
    open(bytes).then((trace) => (document.title = trace.length), (error) => (document.title = String(error)));
  `.replace("TRACE", JSON.stringify(readFileSync(trace).toString("base64")));
  const folder = project("inline", { "src/app.js": app });
  run(
    folder,
    `${tools}/.bin/esbuild`,
    "src/app.js",
    "--bundle",
    "--format=iife",
    "--outfile=app.js",
    "--log-level=error",
  );
  const script = readFileSync(join(folder, "app.js"), "utf8").replaceAll("</script", "<\\/script");
  const page = `<!doctype html><meta charset="utf-8"><title>waiting</title><script>${script}</script>`;
  writeFileSync(join(folder, "index.html"), page);
  assert.equal(await titleOf(browser, pathToFileURL(join(folder, "index.html")).href), "2576");
});
