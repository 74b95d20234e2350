// Runs the examples.

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { test } from "node:test";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { CHROMIUM } from "./browser.js";
import { data, root, target } from "./files.js";

const place = `${target}/examples-test`;
const examples = `${root}wasm/examples`;
const gpu = `${data}/healthy/small_gpu_trace.json`;
const torch = `${data}/torch/kineto/transformer_training/trace.json.gz`;

/** Copies an example to a folder with the package, as after `npm install kinetoscope`. */
function installed(name) {
  mkdirSync(`${place}/node_modules`, { recursive: true });
  cpSync(`${root}wasm/js`, `${place}/node_modules/kinetoscope`, {
    recursive: true,
    filter: (path) => !/wasm\/js\/(node_modules|src)/.test(path),
  });
  copyFileSync(`${examples}/${name}`, `${place}/${name}`);
  return `${place}/${name}`;
}

async function node(...args) {
  try {
    const { stdout } = await promisify(execFile)("node", args);
    return { stdout, code: 0 };
  } catch ({ stdout, stderr, code }) {
    return { stdout, stderr, code };
  }
}

test("the report has a section for every file, including files that are not traces", async () => {
  const folder = `${place}/traces`;
  mkdirSync(folder, { recursive: true });
  copyFileSync(gpu, `${folder}/gpu.json`);
  copyFileSync(torch, `${folder}/torch.json.gz`);
  writeFileSync(`${folder}/page.json`, "<html>");
  const { stdout, code } = await node(installed("report.mjs"), folder);
  assert.equal(code, 0);
  assert.match(stdout, /^# Traces in .*\n\n## gpu\.json\n\n.*12 events/);
  assert.match(stdout, /- device 0: busy \d+\.\d % of .* ms/);
  assert.match(stdout, /## page\.json\n\nNot read: this is not a trace: it looks like an HTML or XML page\./);
  assert.match(stdout, /## torch\.json\.gz[^]*\| Optimizer\.step#Adam\.step \|/);
});

const ranksOf = (run) => [0, 1, 2, 3].map((rank) => `${data}/runs/${run}/rank${rank}.json.gz`);

test("the report of the ranks of a run begins with the run", async () => {
  const { stdout, code } = await node(installed("report.mjs"), `${data}/runs/slow_forward`);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^# Traces in .*\n\n## 4 ranks\n\n\d+ collectives of several ranks\.\n\n- \*\*rank 2\*\* is late in forward; /,
  );
  assert.match(stdout, /## rank0\.json\.gz/);
});

test("the gate checks the ranks of a run together", async () => {
  const gate = installed("gate.mjs");
  const late = await node(gate, ...ranksOf("slow_forward"), "--max-late-ms", "1");
  assert.equal(late.code, 1);
  assert.match(late.stdout, /^✗ others waited \d+\.\d+ ms for rank 2, late in forward, more than 1 ms\n$/);
  const within = await node(gate, ...ranksOf("slow_forward"), "--max-late-ms", "60000");
  assert.equal(within.code, 0, within.stderr);
  const missing = await node(gate, ...ranksOf("slow_forward").slice(1), "--max-late-ms", "60000");
  assert.deepEqual([missing.code, missing.stderr], [2, "gate: no trace of rank 0\n"]);
  const single = await node(gate, torch, "--max-late-ms", "1");
  assert.equal(single.stdout, "✗ no collectives that several ranks have\n");
});

test("the gate passes, fails, and rejects invalid arguments", async () => {
  const gate = installed("gate.mjs");
  const within = await node(gate, gpu, "--min-gpu-busy", "1");
  assert.deepEqual([within.code, within.stdout], [0, `✓ ${gpu}: within 1 limits\n`]);
  const over = await node(gate, gpu, "--min-gpu-busy", "99.9");
  assert.equal(over.code, 1);
  assert.match(over.stdout, /^✗ device 0 is busy \d+\.\d %, less than 99\.9 %\n$/);
  assert.equal((await node(gate, torch, "--max-mean-step-ms", "5")).stdout, "✗ no steps in the trace\n");
  for (const args of [
    [],
    [gpu],
    [gpu, "--min-gpu-busy", "much"],
    [gpu, "--colour", "red"],
    ["none.json", "--min-gpu-busy", "1"],
  ]) {
    assert.equal((await node(gate, ...args)).code, 2, args.join(" "));
  }
});

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

const PYTHON_PACKAGES = ["tensorboard==2.21.0", "setuptools==80.9.0", "wheel==0.45.1"];

/** Installs TensorBoard and the plugin in a virtual environment, which is reused while its packages stay the same. */
function tensorboard() {
  const python = `${place}/python`;
  const stamp = `${python}/installed`;
  const pip = [`${python}/bin/pip`, "--disable-pip-version-check", "install", "--quiet"];
  const run = (program, ...args) => execFileSync(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  rmSync(`${examples}/tensorboard/build`, { recursive: true, force: true });
  const packages = PYTHON_PACKAGES.join(" ");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== packages) {
    run("python3", "-m", "venv", "--clear", python);
    run(...pip, ...PYTHON_PACKAGES);
    writeFileSync(stamp, packages);
  }
  run(...pip, "--force-reinstall", "--no-build-isolation", "--no-deps", `${examples}/tensorboard`);
  return `${python}/bin/tensorboard`;
}

test("TensorBoard shows the traces of a logdir", async (t) => {
  const program = tensorboard();
  const logdir = `${place}/logdir`;
  mkdirSync(`${logdir}/run`, { recursive: true });
  copyFileSync(torch, `${logdir}/run/worker.pt.trace.json.gz`);
  copyFileSync(gpu, `${logdir}/run/zz_gpu.pt.trace.json`);
  const port = await freePort();
  const server = spawn(program, ["--logdir", logdir, "--host", "127.0.0.1", "--port", String(port)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = [];
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (text) => output.push(String(text)));
  t.after(() => server.kill());
  const address = `http://127.0.0.1:${port}`;
  for (
    let tries = 0;
    !(await fetch(`${address}/data/plugins_listing`).then(
      (r) => r.ok,
      () => false,
    ));
    tries++
  ) {
    assert.ok(tries < 300 && server.exitCode === null, `TensorBoard does not answer:\n${output.join("")}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const listing = await (await fetch(`${address}/data/plugins_listing`)).json();
  assert.ok(listing.kinetoscope?.enabled, JSON.stringify(Object.keys(listing)));
  const outside = `${address}/data/plugin/kinetoscope/static/..%2f..%2fplugin.py`;
  assert.equal((await fetch(outside)).status, 404);
  assert.equal((await fetch(`${address}/data/plugin/kinetoscope/trace?name=../../etc/passwd`)).status, 404);

  const browser = await chromium.launch(CHROMIUM);
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  await page.goto(`${address}/#kinetoscope`);
  const frame = page.frameLocator("iframe");
  const rows = frame.locator("tbody tr");
  await rows.first().waitFor({ timeout: 60_000 });
  assert.match(await frame.locator("main p").first().innerText(), /^2,576 events · 4\.533 ms/);
  assert.equal(await rows.first().locator("td").first().innerText(), "Optimizer.step#Adam.step");
  assert.equal(await rows.count(), 133);
  await frame.locator("th button", { hasText: "Calls" }).click();
  assert.equal(await rows.first().locator("td").first().innerText(), "aten::copy_");
  await frame.locator("select").selectOption("run/zz_gpu.pt.trace.json");
  await frame.getByText("GPU 0 busy").waitFor();
  assert.equal(await frame.locator("tbody td").first().innerText(), "ProfilerStep*");
  await page.screenshot({ path: `${place}/tensorboard.png` });
});
