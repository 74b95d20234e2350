// Runs the recipes: esbuild, a webview of VS Code, an extension of JupyterLab, an edge worker, standard input.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { once } from "node:events";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { execFileSync } from "node:child_process";
import { gunzipSync } from "node:zlib";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { CHROMIUM } from "./browser.js";
import { data, kinetoscope, root } from "./files.js";
import { MEDIA_TYPES, installer, run, titleOf, tools } from "./installed.js";

const trace = `${data}/torch/kineto/transformer_training/trace.json.gz`;
const { project } = installer("recipes-test");

let browser;

before(async () => (browser = await chromium.launch(CHROMIUM)));
after(() => browser?.close());

/** Installs the package and an example, with these tools. */
function recipe(name, ...needed) {
  const folder = project(name, {}, { type: "module" });
  cpSync(`${root}wasm/examples/${name}`, folder, { recursive: true });
  for (const tool of needed) {
    mkdirSync(join(folder, "node_modules", tool, ".."), { recursive: true });
    symlinkSync(`${tools}/${tool}`, join(folder, "node_modules", tool));
  }
  return folder;
}

/** Serves a folder, and pages, to any origin. Returns the address. */
async function serve(t, host, folder, pages = {}, headers = {}) {
  const server = createServer((request, response) => {
    const path = request.url.split("?")[0];
    try {
      const body = pages[path] ?? readFileSync(path === "/trace.json.gz" ? trace : join(folder, path));
      const type = path in pages ? "text/html" : (MEDIA_TYPES[extname(path)] ?? "application/octet-stream");
      response.writeHead(200, { "content-type": type, "access-control-allow-origin": "*", ...headers }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  t.after(() => (server.close(), server.closeAllConnections()));
  await once(server, "listening");
  return `http://${host}:${server.address().port}`;
}

const script = (place) =>
  `<!doctype html><meta charset="utf-8"><title>waiting</title><body><script type="module" src="${place}"></script>`;

test("esbuild copies the engine", async (t) => {
  const folder = recipe("esbuild", "esbuild");
  run(folder, "node", "build.mjs");
  const policy = "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
  const address = await serve(
    t,
    "127.0.0.1",
    folder,
    { "/": script("/dist/app.js") },
    { "content-security-policy": policy },
  );
  assert.equal(await titleOf(browser, `${address}/`), "2576 events");
});

/** What the extension uses of VS Code, with files at another origin than the page. */
const vscodeStub = (files) => `
  const joinPath = (uri, ...parts) => ({ path: [uri.path, ...parts].join("/").replace(/\\/[^/]+\\/\\.\\./, "") });
  exports.Uri = { joinPath };
  exports.providers = [];
  exports.window = { registerCustomEditorProvider: (name, provider) => exports.providers.push({ name, provider }) };
  exports.webview = { cspSource: ${JSON.stringify(files)}, asWebviewUri: ({ path }) => ${JSON.stringify(files)} + path };
`;

test("a webview of VS Code reads a trace in a worker", async (t) => {
  const folder = recipe("vscode", "esbuild");
  run(folder, "node", "build.mjs");
  const files = await serve(t, "127.0.0.1", folder);
  mkdirSync(join(folder, "node_modules/vscode"));
  writeFileSync(join(folder, "node_modules/vscode/index.js"), vscodeStub(files));
  writeFileSync(join(folder, "dist/package.json"), "{}");
  const require = createRequire(join(folder, "main.js"));
  const vscode = require("vscode");
  require("./dist/extension.js").activate({ extensionUri: { path: "" }, subscriptions: [] });
  const [{ name, provider }] = vscode.providers;
  assert.equal(name, "kinetoscope.trace");
  const { webview } = vscode;
  provider.resolveCustomEditor(provider.openCustomDocument({ path: "/trace.json.gz" }), { webview });
  const page = await serve(t, "localhost", folder, { "/": webview.html });
  assert.equal(await titleOf(browser, `${page}/`), "2576 events");
});

/** The configuration of JupyterLab's builder: an extension is a container that shares modules with the page. */
const JUPYTERLAB = `
  const { ModuleFederationPlugin } = require(${JSON.stringify(`${tools}/webpack`)}).container;
  module.exports = {
    mode: "production",
    entry: {},
    output: { path: __dirname + "/labextension", publicPath: "auto", filename: "[name].js" },
    plugins: [
      new ModuleFederationPlugin({
        library: { type: "var", name: ["_JUPYTERLAB", "kinetoscope-jupyterlab"] },
        name: "kinetoscope-jupyterlab",
        filename: "remoteEntry.js",
        exposes: { "./mimeExtension": "./index.js" },
        shared: { "@lumino/widgets": { import: false, singleton: true, requiredVersion: false } },
      }),
    ],
  };
`;

/** What JupyterLab does with a container, and with an output of a cell. */
const HOST = `
  class Widget { node = document.body; }
  const shared = { "@lumino/widgets": { "2.0.0": { get: async () => () => ({ Widget }), from: "host", eager: true } } };
  window._JUPYTERLAB = {};
  const element = document.createElement("script");
  element.src = "/labextension/remoteEntry.js";
  element.onload = async () => {
    const container = window._JUPYTERLAB["kinetoscope-jupyterlab"];
    await container.init(shared);
    const extension = (await container.get("./mimeExtension"))().default;
    const { rendererFactory } = extension;
    const data = { [rendererFactory.mimeTypes[0]]: await (await fetch("/trace.json")).text() };
    try {
      await rendererFactory.createRenderer().renderModel({ data });
      document.title = document.querySelector("pre").textContent.split("\\n").length > 20 ? "a table" : "no table";
    } catch (error) {
      document.title = String(error);
    }
  };
  document.head.append(element);
`;

test("an extension of JupyterLab shows a trace", async (t) => {
  const folder = recipe("jupyterlab");
  writeFileSync(join(folder, "package.json"), "{}");
  writeFileSync(join(folder, "webpack.config.cjs"), JUPYTERLAB);
  run(folder, `${tools}/.bin/webpack`, "--config", "webpack.config.cjs");
  writeFileSync(join(folder, "host.js"), HOST);
  writeFileSync(join(folder, "trace.json"), gunzipSync(readFileSync(trace)));
  const address = await serve(t, "127.0.0.1", folder, { "/": script("/host.js") });
  assert.equal(await titleOf(browser, `${address}/`), "a table");
});

/** Makes an import of WebAssembly a compiled module, as edge platforms do. */
const compiled = {
  name: "compiled",
  setup(build) {
    build.onLoad({ filter: /\.wasm$/ }, ({ path }) => ({
      contents: `export default new WebAssembly.Module(Uint8Array.from(atob("${readFileSync(path).toString("base64")}"), (c) => c.charCodeAt(0)))`,
    }));
  },
};

test("an edge worker answers about the body of a request, and fetches nothing", async () => {
  const folder = recipe("edge");
  const conditions = ["workerd", "worker", "browser"];
  const options = { bundle: true, format: "esm", conditions, plugins: [compiled], logLevel: "error" };
  await build({ ...options, entryPoints: [join(folder, "worker.js")], outfile: join(folder, "dist.mjs") });
  const { default: worker } = await import(pathToFileURL(join(folder, "dist.mjs")).href);
  const { fetch } = globalThis;
  globalThis.fetch = () => assert.fail("an address was fetched");
  try {
    const post = (body) => worker.fetch(new Request("http://127.0.0.1:1/", { method: "POST", body, duplex: "half" }));
    const answer = await post(readFileSync(trace));
    const expected = JSON.parse((await kinetoscope("summary", trace, "--format", "json")).stdout);
    assert.deepEqual((await answer.json()).rows, expected.rows);
    assert.equal((await post("<html>")).status, 400);
    assert.equal((await worker.fetch(new Request("http://127.0.0.1:1/"))).status, 405);
  } finally {
    globalThis.fetch = fetch;
  }
});

test("standard input is printed as PyTorch's table", async () => {
  const folder = project("stdin", {}, { type: "module" });
  cpSync(`${root}wasm/examples/stdin.mjs`, join(folder, "stdin.mjs"));
  const printed = execFileSync("node", ["stdin.mjs"], { cwd: folder, input: readFileSync(trace), encoding: "utf8" });
  const flags = ["--sort-by", "self_cpu_time_total", "--row-limit", "10"];
  assert.equal(printed, (await kinetoscope("ops", trace, ...flags)).stdout);
});
