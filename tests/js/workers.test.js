// Workers: what `kinetoscope/worker` has of the package, pools, signals of queries, and workers that fail.

import assert from "node:assert/strict";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { gunzipSync } from "node:zlib";
import * as here from "kinetoscope";
import { createRemoteClient } from "kinetoscope/remote";
import * as worker from "kinetoscope/worker";
import { data, root, target } from "./files.js";

const path = `${data}/torch/kineto/transformer_training/trace.json.gz`;
const text = gunzipSync(readFileSync(path));
const pair = (name) => `${data}/pairs/${name}.json.gz`;

test("a worker checks, repairs and has media types as the package", async () => {
  const budgets = { range: { host_work: { no_significant_increase: true, optional: true } }, step: { max: "1 s" } };
  const sources = [pair("host_sleep1"), budgets, { base: [pair("base1"), pair("base2")] }];
  assert.deepEqual(await worker.check(...sources), await here.check(...sources));
  await assert.rejects(worker.check(pair("base1"), budgets), { code: "bad_option", message: /base/ });
  await assert.rejects(worker.check(pair("base1"), budgets, { colour: 1 }), { code: "bad_option" });
  const cut = text.subarray(0, text.length >> 1);
  const repaired = async (from) => new Response(await from.repair(cut)).text();
  assert.equal(await repaired(worker), await repaired(here));
  await assert.rejects(repaired({ repair: () => worker.repair(Buffer.from("<html>")) }), { code: "not_a_trace" });
  assert.equal(worker.mediaType("chrome"), here.mediaType("chrome"));
});

test("the memory of the workers is that of those that run", async () => {
  assert.equal(await worker.memoryBytes(), 0);
  const traces = [await worker.open(path), await worker.open(path)];
  assert.ok((await worker.memoryBytes()) > 4e6);
  for (const trace of traces) trace.dispose();
  assert.equal(await worker.memoryBytes(), 0);
});

const SMALL = Buffer.from('[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]');

test("the workers of a pool are reused", async () => {
  let started = 0;
  const client = createRemoteClient((...callbacks) => ((started += 1), spawnWorker(...callbacks)));
  const pool = client.createPool({ workers: 2 });
  for (let n = 0; n < 20; n++) {
    const trace = await pool.open(SMALL);
    assert.equal((await trace.info()).events, 1);
    trace.dispose();
  }
  assert.equal(started, 1);
  const traces = await Promise.all(Array.from({ length: 6 }, () => pool.open(path)));
  assert.equal(started, 2);
  const expected = await (await here.open(path)).json("ops");
  for (const trace of traces) assert.equal(await trace.json("ops"), expected);
  traces[0].dispose();
  await assert.rejects(traces[0].ops(), { code: "disposed" });
  assert.equal(await traces[1].json("ops"), expected, "others in the same worker go on");
  assert.equal((await pool.check(pair("base1"), { step: { max: "1 s" } })).outcome, "pass");
  assert.equal((await pool.openRun([0, 1].map((rank) => `${data}/runs/plain/rank${rank}.json.gz`))).length, 2);
  assert.ok((await new Response(await pool.repair(text)).text()).length > 1e6);
  await assert.rejects(pool.open(Buffer.from("<html>")), { code: "not_a_trace" });
  assert.equal(await traces[1].json("ops"), expected, "a failure does not end the worker");
  assert.equal(started, 2);
  pool.dispose();
  await assert.rejects(traces[1].ops(), { code: "disposed" });
  await assert.rejects(pool.open(path), { code: "disposed" });
  for (const workers of [0, -1, "2"]) assert.throws(() => client.createPool({ workers }), { code: "bad_option" });
});

test("a pool frees what it has disposed of", async () => {
  const pool = worker.createPool({ workers: 1 });
  const cycle = async () => {
    const trace = await pool.open(path);
    await trace.ops();
    await new Response(trace.export("chrome")).arrayBuffer();
    trace.dispose();
  };
  for (let n = 0; n < 5; n++) await cycle();
  const before = await pool.memoryBytes();
  for (let n = 0; n < 30; n++) await cycle();
  assert.equal(await pool.memoryBytes(), before);
  pool.dispose();
});

test("a signal ends a query, and one that waits is not computed", async () => {
  const sent = [];
  const client = createRemoteClient((...callbacks) => {
    const thread = spawnWorker(...callbacks);
    return {
      ...thread,
      postMessage: (message, transfer) => (sent.push(message), thread.postMessage(message, transfer)),
    };
  });
  const reason = new Error("another view");
  const trace = await client.open(path);
  sent.length = 0;
  const controller = new AbortController();
  const { signal } = controller;
  const answers = [
    trace.events(),
    trace.tree({ depth: 3, signal }),
    trace.event(0, { signal }),
    trace.ops({ rowLimit: 3 }),
  ];
  const begun = performance.now();
  controller.abort(reason);
  const [events, tree, event, ops] = await Promise.allSettled(answers);
  for (const { reason: failure } of [tree, event])
    assert.deepEqual([failure.code, failure.reason], ["aborted", reason]);
  assert.deepEqual([events.status, ops.value.length], ["fulfilled", 3]);
  assert.deepEqual(
    sent.map((message) => message.arguments?.[0]),
    ["events", "ops"],
  );
  // A query that is computed does not hold up the caller.
  const late = new AbortController();
  const running = trace.events({ signal: late.signal });
  await new Promise((resolve) => setTimeout(resolve, 1));
  late.abort();
  await assert.rejects(running, { code: "aborted" });
  assert.equal((await trace.info()).events, 2576, "the trace can be used");
  await assert.rejects(trace.info({ signal: AbortSignal.abort() }), { code: "aborted" });
  await assert.rejects(trace.info({ signal: 5 }), { code: "bad_option" });
  assert.ok(performance.now() - begun < 10_000);
  trace.dispose();
});

test("a signal ends a stream", async () => {
  const trace = await worker.open(path);
  const streams = {
    stream: (signal) => trace.stream("events", { signal }),
    export: (signal) => trace.export("chrome", { signal }),
  };
  for (const [name, stream] of Object.entries(streams)) {
    const whole = await new Response(stream(new AbortController().signal)).text();
    assert.ok(whole.length > 100, name);
    const controller = new AbortController();
    const reader = stream(controller.signal).getReader();
    controller.abort("enough");
    await assert.rejects(reader.read(), { code: "aborted", reason: "enough" }, name);
    await assert.rejects(stream(AbortSignal.abort()).getReader().read(), { code: "aborted" }, name);
    assert.throws(() => stream(5), { code: "bad_option" }, name);
  }
  trace.dispose();
});

test("what a source throws is the reason of the error", async () => {
  const thrown = new RangeError("no more");
  const source = (async function* () {
    yield new TextEncoder().encode("[");
    throw thrown;
  })();
  await assert.rejects(worker.open(source), (error) => error.code === "io" && error.reason?.message === thrown.message);
});

test("every method of what a worker holds takes a signal", async () => {
  const rank = `${data}/runs/plain/rank0.json.gz`;
  const given = { signal: new AbortController().signal };
  const trace = await worker.open(rank);
  const window = { startNs: 0, endNs: 1e6, pixels: 10, ...given };
  for (const query of Object.keys(here.QUERIES)) assert.ok(await trace.rows(query, given), query);
  for (const form of ["columns", "table", "json", "csv", "markdown"]) assert.ok(await trace[form]("ops", given), form);
  for (const call of ["diagnostics", "rankSummary", "profile"]) assert.ok(await trace[call](given), call);
  for (const call of ["event", "related", "instances"]) assert.ok(await trace[call](0, given), call);
  assert.ok(await trace.tiles({ track: 0, ...window }));
  assert.ok(await trace.find(["a"], given));
  assert.ok(await trace.buffers("ops", given));
  trace.dispose();
  const run = await worker.openRun([rank]);
  for (const call of ["ranks", "columns", "table", "json", "rankSummaries"]) assert.ok(await run[call](given), call);
  run.dispose();
  const comparison = await worker.diff(pair("base1"), pair("base2"));
  for (const call of ["rows", "columns", "tree", "treeColumns", "table", "json", "treeTable", "treeJson"])
    assert.ok(await comparison[call](given), call);
  comparison.dispose();
  const outline = await worker.outline(rank);
  for (const call of ["rows", "json"]) assert.ok(await outline[call](3, given), call);
  for (const call of ["tracks", "diagnostics"]) assert.ok(await outline[call](given), call);
  assert.ok(await outline.density({ track: 0, ...window }));
  assert.equal(typeof (await outline.eventsWithin(0, 1e9, given)), "number");
  outline.dispose();
});

/** The package without the file of its worker. */
async function withoutWorker() {
  const place = `${target}/without-worker`;
  rmSync(place, { recursive: true, force: true });
  cpSync(`${root}wasm/js/dist`, `${place}/dist`, { recursive: true });
  cpSync(`${root}wasm/js/package.json`, `${place}/package.json`);
  rmSync(`${place}/dist/entry/worker-thread-node.js`);
  return import(pathToFileURL(`${place}/dist/entry/worker-node.js`).href);
}

test(
  "a worker that cannot be started, or ends, is an error with its address and the way out",
  { timeout: 20_000 },
  async () => {
    const { open } = await withoutWorker();
    await assert.rejects(open(path), (error) => {
      assert.equal(error.code, "worker");
      assert.match(
        error.message,
        /^the worker file:.*\/worker-thread-node\.js failed: .*kinetoscope\/remote and kinetoscope\/serve$/,
      );
      return true;
    });
    const throwing = createRemoteClient(() => {
      throw new Error("no workers here");
    });
    await assert.rejects(throwing.open(path), { code: "worker", message: "no workers here" });
    let end;
    const ending = createRemoteClient((onReply, onFailure) => {
      end = () => onFailure(new Error("out of memory"));
      return { postMessage: () => undefined, terminate: () => undefined };
    });
    const opening = ending.open(path);
    setTimeout(() => end());
    await assert.rejects(opening, { code: "worker", message: "out of memory" });
  },
);

test("the code of an error survives structuredClone", async () => {
  const error = await here.open(Buffer.from("<html>")).catch((error) => error);
  const { cause } = structuredClone(error);
  assert.deepEqual(cause, { code: "not_a_trace", byteOffset: 0, source: "bytes" });
  assert.deepEqual([error.code, error.byteOffset, error.source], ["not_a_trace", 0, "bytes"]);
  const option = await here.open(path, { torchVersion: "new" }).catch((error) => error);
  assert.deepEqual(structuredClone(option).cause, {
    code: "bad_option",
    byteOffset: undefined,
    source: "trace.json.gz",
  });
  const aborted = await here.open(path, { signal: AbortSignal.abort(() => "not cloneable") }).catch((error) => error);
  assert.equal(structuredClone(aborted).cause.code, "aborted");
});

/** Starts the worker of the package, as a host that does so itself. */
function spawnWorker(onReply, onFailure) {
  const thread = new Worker(new URL("../../wasm/js/dist/entry/worker-thread-node.js", import.meta.url), {
    execArgv: [],
  });
  thread.on("message", onReply);
  thread.on("error", onFailure);
  return {
    postMessage: (message, transfer) => thread.postMessage(message, transfer),
    terminate: () => thread.terminate(),
    setBusy: (isBusy) => (isBusy ? thread.ref() : thread.unref()),
  };
}
