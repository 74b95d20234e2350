// Comparisons of two traces: the answers equal those of the command line, in the same thread and in workers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { diff, open } from "kinetoscope";
import * as worker from "kinetoscope/worker";
import { data, kinetoscope } from "./files.js";

const pair = (name) => `${data}/pairs/${name}.json.gz`;

/** A trace under the name that the command line gives it. */
const named = (path) => new File([readFileSync(path)], path);

for (const [base, changed] of [
  ["base1", "base2"],
  ["base1", "host_sleep1"],
  ["base2", "fused1"],
  ["op_slow1", "base1"],
]) {
  test(`${base} and ${changed}: the answers equal those of the command line`, async () => {
    const paths = [pair(base), pair(changed)];
    const [json, table] = await Promise.all(
      ["json", "table"].map(async (format) => (await kinetoscope("diff", ...paths, "--format", format)).stdout),
    );
    const here = await diff(...paths.map(named));
    const there = await worker.diff(...paths.map(named));
    assert.equal(here.json(), json);
    assert.equal(here.table(), table);
    assert.deepEqual(here.rows(), JSON.parse(json).rows);
    assert.equal(await there.json(), json);
    assert.equal(await there.table({ rowLimit: 3 }), here.table({ rowLimit: 3 }));
    assert.deepEqual(await there.rows({ rowLimit: 5 }), here.rows({ rowLimit: 5 }));
    const [treeJson, treeTable] = await Promise.all(
      ["json", "table"].map(async (format) => (await kinetoscope("diff-tree", ...paths, "--format", format)).stdout),
    );
    assert.equal(here.treeJson(), treeJson);
    assert.equal(here.treeTable(), treeTable);
    assert.deepEqual(here.tree(), JSON.parse(treeJson).rows);
    assert.deepEqual(await there.tree({ minShare: 5 }), here.tree({ minShare: 5 }));
    const tree = await there.treeColumns({ minShare: 5 });
    assert.deepEqual(
      [...tree.columns.b_ns],
      here.tree({ minShare: 5 }).map((row) => row.b_ns),
    );
    const { length, columns } = here.columns();
    assert.deepEqual(
      [...columns.contribution_ns],
      here.rows().map((row) => row.contribution_ns ?? NaN),
    );
    assert.equal(length, here.rows().length);
    here.dispose();
    there.dispose();
    assert.throws(() => here.rows(), { code: "disposed" });
    await assert.rejects(there.rows(), { code: "disposed" });
  });
}

test("runs of several ranks are compared rank by rank", async () => {
  const ranks = (run) => [0, 1, 2, 3].map((rank) => `${data}/runs/${run}/rank${rank}.json.gz`);
  const progress = [];
  const onProgress = ({ done, total }) => progress.push([done, total]);
  const comparison = await diff(ranks("plain"), ranks("slow_forward"), { onProgress });
  assert.deepEqual(progress.at(-1), [8, 8]);
  const json = (await kinetoscope("diff", `${data}/runs/plain`, `${data}/runs/slow_forward`, "--format", "json"))
    .stdout;
  assert.deepEqual(comparison.rows(), JSON.parse(json).rows);
  const wait = comparison.rows().find(({ kind }) => kind === "wait");
  assert.match(wait.message, /rank 2 is late in the phase forward/);
  const profile = async (path) => (await open(path)).profile();
  const profiles = (run) => Promise.all(ranks(run).map(profile));
  const ofProfiles = await diff(await profiles("plain"), await profiles("slow_forward"));
  assert.deepEqual(ofProfiles.rows(), comparison.rows());
  const one = await diff(ranks("plain"), ranks("plain").slice(1, 3));
  const notes = one.rows().filter(({ kind }) => kind === "note");
  assert.deepEqual(
    notes.map(({ message }) => message),
    ["only the first run has a trace of ranks 0, 3; it is not compared"],
  );
});

test("summaries are compared with summaries", async () => {
  const folder = await mkdtemp(join(tmpdir(), "summaries-"));
  const paths = ["plain", "slow_forward"].map((run) => join(folder, `${run}.ksum`));
  for (const path of paths) await kinetoscope("summarize", `${data}/runs/${basename(path, ".ksum")}`, "-o", path);
  const json = (await kinetoscope("diff", ...paths, "--format", "json")).stdout;
  const comparison = await diff(...paths);
  assert.deepEqual(comparison.rows(), JSON.parse(json).rows);
  assert.equal(await (await worker.diff(...paths)).json(), comparison.json());
  await assert.rejects(diff(paths[0], `${data}/runs/slow_forward/rank0.json.gz`), {
    code: "bad_option",
    message: /summaries are compared with summaries/,
  });
  await rm(folder, { recursive: true });
});

test("what cannot be compared is refused", async () => {
  const good = pair("base1");
  await assert.rejects(diff([], good), { code: "empty" });
  await assert.rejects(diff(good, new File(["no trace"], "x.json")), { code: "not_a_trace", source: "x.json" });
  await assert.rejects(diff(good, good, { rowLimit: 1 }), { code: "bad_option" });
  await assert.rejects(worker.diff(good, 5), { code: "bad_source" });
  const same = await diff(good, good);
  assert.deepEqual(same.rows(), []);
  assert.throws(() => same.rows({ colour: 1 }), { code: "bad_option" });
  const rank = (number) => `${data}/runs/plain/rank${number}.json.gz`;
  await assert.rejects(diff([rank(0), rank(1)], [rank(2), rank(3)]), { code: "bad_option" });
  const stop = new AbortController();
  stop.abort();
  await assert.rejects(diff(good, good, { signal: stop.signal }), { code: "aborted" });
});

test("profiles are compared as the traces that they are of", async () => {
  const [a, b] = ["base1", "fused1"].map((name) => named(pair(name)));
  const [here, there] = [await open(a), await worker.open(b)];
  const profiles = [here.profile(), await there.profile()];
  const expected = (await diff(a, b)).json();
  assert.equal((await diff(...profiles)).json(), expected);
  assert.equal(await (await worker.diff(...profiles)).json(), expected);
  assert.ok(profiles[0].length < 400_000);
  await assert.rejects(diff(profiles[0].subarray(0, 1000), b), { code: "bad_option" });
  here.dispose();
  there.dispose();
});
