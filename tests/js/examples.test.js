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

test("a folder without traces has no report", async () => {
  const folder = `${place}/none`;
  mkdirSync(folder, { recursive: true });
  const report = installed("report.mjs");
  const empty = await node(report, folder);
  assert.deepEqual([empty.code, empty.stderr], [2, `report: ${folder} has no traces\n`]);
  writeFileSync(`${folder}/page.json`, "<html>");
  assert.equal((await node(report, folder)).code, 1);
  rmSync(folder, { recursive: true });
});

test("a report names the traces that are not of the run", async () => {
  const folder = `${place}/mixed`;
  mkdirSync(folder, { recursive: true });
  for (const rank of [0, 1]) copyFileSync(ranksOf("slow_forward")[rank], `${folder}/rank${rank}.json.gz`);
  copyFileSync(torch, `${folder}/torch.json.gz`);
  const { stdout, code } = await node(installed("report.mjs"), folder);
  assert.equal(code, 0);
  assert.match(stdout, /\n## 2 ranks\n[^]*\n> torch\.json\.gz: recorded at another time than the other ranks\n/);
  assert.match(stdout, /\n> no trace of ranks 2, 3\n/);
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

/** Writes a file of budgets, and returns its path. */
function budgetFile(budgets) {
  const path = `${place}/budget.json`;
  writeFileSync(path, JSON.stringify(budgets));
  return path;
}

test("the gate checks the ranks of a run together", async () => {
  const gate = installed("gate.mjs");
  const budget = budgetFile({ step: { max: "10 s" } });
  const late = await node(gate, budget, ...ranksOf("slow_forward"), "--max-late-ms", "1");
  assert.equal(late.code, 1);
  assert.match(late.stdout, /\n✗ others waited \d+\.\d+ ms for rank 2, late in forward, more than 1 ms\n$/);
  const within = await node(gate, budget, ...ranksOf("slow_forward"), "--max-late-ms", "60000");
  assert.equal(within.code, 0, within.stderr);
  const alone = await node(gate, budget, `${data}/pairs/base1.json.gz`, "--max-late-ms", "1");
  assert.equal(alone.code, 3);
  assert.match(alone.stdout, /\n\? the traces have no collectives of several ranks\n$/);
  const missing = await node(gate, budget, ...ranksOf("slow_forward").slice(1), "--max-late-ms", "60000");
  assert.deepEqual([missing.code, missing.stderr], [2, "gate: no trace of rank 0\n"]);
});

test("the gate passes, fails, cannot decide, and rejects invalid arguments", async () => {
  const gate = installed("gate.mjs");
  const [base, sleep] = ["base1", "host_sleep1"].map((name) => `${data}/pairs/${name}.json.gz`);
  const within = await node(gate, budgetFile({ step: { max: "1 s" } }), base);
  assert.equal(within.code, 0, within.stderr);
  assert.match(within.stdout, /^✓ step: \d+\.\d+ms is within 1\.000s\n$/);
  const over = budgetFile({ range: { host_work: { no_significant_increase: true, optional: true } } });
  const [summary, junit] = [`${place}/summary.md`, `${place}/junit.xml`];
  rmSync(summary, { force: true });
  const breached = await node(gate, over, sleep, "--base", base, "--summary", summary, "--junit", junit);
  assert.deepEqual([breached.code, breached.stdout.slice(0, 1)], [1, "✗"], breached.stderr);
  assert.match(readFileSync(summary, "utf8"), /\*\*1 of 1 limit does not hold\.\*\*/);
  assert.match(readFileSync(junit, "utf8"), /failures="1"/);
  assert.equal((await node(gate, over, base, "--base", base)).code, 0);
  assert.equal((await node(gate, budgetFile({ device_busy: { max: "1 s" } }), base)).code, 3);
  const budget = budgetFile({ step: { max: "1 s" } });
  for (const args of [
    [],
    [budget],
    [`${place}/absent.json`, base],
    [budget, base, "--max-late-ms", "much"],
    [budget, base, "--max-late-ms", ""],
    [budget, base, "--max-late-ms", "Infinity"],
    [budget, base, "--colour", "red"],
    [budget, "none.json"],
  ]) {
    assert.equal((await node(gate, ...args)).code, 2, args.join(" "));
  }
  const nothing = await node(gate, budgetFile({}), base);
  assert.deepEqual([nothing.code, nothing.stderr], [2, "gate: budgets: there are none to check\n"]);
  const typo = await node(gate, budgetFile({ stpe: { max: "1 s" } }), base);
  assert.deepEqual([typo.code, typo.stderr], [2, "gate: stpe.max: unknown metric stpe; did you mean step?\n"]);
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
