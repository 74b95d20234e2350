// What is empty, misspelt or not a number is refused: it must not pass a gate, or give an answer about something else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { check, merge, open, openRun } from "kinetoscope";
import * as worker from "kinetoscope/worker";
import { data } from "./files.js";

const path = `${data}/pairs/base1.json.gz`;
const ranks = [0, 1, 2, 3].map((rank) => `${data}/runs/plain/rank${rank}.json.gz`);

const refused = (message) => ({ code: "bad_option", message });

test("a check without budgets is refused", async () => {
  for (const checked of [check, worker.check]) {
    await assert.rejects(checked(path, {}), refused("budgets: there are none to check"));
    await assert.rejects(checked(path, { step: {} }), refused("step: there is no limit here"));
    await assert.rejects(checked(path, { kernel: {} }), refused("kernel: there is no limit here"));
    const partly = { step: { max: "10 s" }, operator: { "aten::mm": {} } };
    await assert.rejects(checked(path, partly), refused("operator.aten::mm: there is no limit here"));
    await assert.rejects(checked(path, { stpe: { max: "1 s" } }), refused(/did you mean step/));
    await assert.rejects(checked(path, { step: { max: Number.NaN } }), { code: "bad_option" });
    await assert.rejects(checked([], { step: { max: "1 s" } }), { code: "empty" });
    assert.equal((await checked(path, { step: { max: "10 s" } })).outcome, "pass");
    assert.equal((await checked(path, { step: { max: "1 ns" } })).outcome, "breach");
  }
});

test("kinds of rows and ranks that do not exist are refused", async () => {
  const run = await openRun(ranks);
  const remote = await worker.openRun(ranks);
  for (const [options, message] of [
    [{ kinds: ["stragler"] }, /^kinds: there is no kind stragler; the kinds are: run, note, /],
    [{ kinds: [] }, /^kinds: none is given/],
    [{ rank: 9 }, /there is no trace of rank 9/],
  ]) {
    assert.throws(() => run.ranks(options), refused(message));
    assert.throws(() => run.columns(options), refused(message));
    await assert.rejects(remote.ranks(options), refused(message));
  }
  assert.deepEqual(await remote.ranks({ kinds: ["run"] }), run.ranks({ kinds: ["run"] }));
  run.dispose();
  remote.dispose();
  await assert.rejects(merge(ranks, { ranks: [] }), refused("ranks: none is given"));
  await assert.rejects(merge(ranks, { ranks: [7] }), refused(/there is no trace of rank 7/));
});

test("numbers that are none are refused", async () => {
  const trace = await open(path);
  for (const call of [
    () => trace.ops({ rowLimit: Number.NaN }),
    () => trace.ops({ rowLimit: Number.POSITIVE_INFINITY }),
    () => trace.ops({ rowLimit: "5" }),
    () => trace.ops({ rowLimit: 1.5 }),
    () => trace.kernels({ rowLimit: new Date(Number.NaN) }),
    () => trace.table("tree", { minShare: Number.NaN }),
    () => trace.columns("ops", { rowLimit: Number.NaN }),
    () => trace.export("slice", { steps: [Number.NaN, 2] }),
    () => trace.export("slice", { time: [0, Number.NaN] }),
    () => trace.tiles({ track: 0, startNs: 0, endNs: Number.NaN, pixels: 5 }),
    () => trace.tiles({ track: 0, startNs: 5, endNs: 1, pixels: 5 }),
    () => trace.tiles({ track: 0, startNs: 0, endNs: 1, pixels: 0 }),
    () => trace.curve({ counter: 0, startNs: 0, endNs: 1, pixels: 1e6 }),
    () => trace.instances(1e6),
  ]) {
    assert.throws(call, { code: "bad_option" }, String(call));
  }
  assert.equal(trace.ops({ rowLimit: 2 }).length, 2);
  assert.ok(trace.instances(0).length > 0);
  trace.dispose();
});
