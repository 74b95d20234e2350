// Runs of several ranks: the answers equal those of the command line, in the same thread and in workers.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { merge, open, openRun, summarize } from "kinetoscope";
import * as worker from "kinetoscope/worker";
import { data, kinetoscope } from "./files.js";

const RUNS = ["slow_forward", "clocks", "pipeline", "two_groups", "alternating"];

const tracesOf = (run) => [0, 1, 2, 3].map((rank) => `${data}/runs/${run}/rank${rank}.json.gz`);

/** The rows with Unix times as numbers, as the document of the command line has them. */
const plain = (rows) =>
  JSON.parse(JSON.stringify(rows), (key, value) =>
    /^(start|at)_ns$/.test(key) && value !== null ? Number(value) : value,
  );

const file = (text, name) => new File([text], name);

for (const run of RUNS) {
  test(`${run}: the answers equal those of the command line`, async () => {
    const paths = tracesOf(run);
    const [json, table] = await Promise.all(
      ["json", "table"].map(async (format) => (await kinetoscope("ranks", ...paths, "--format", format)).stdout),
    );
    const here = await openRun(paths);
    const there = await worker.openRun(paths);
    assert.equal(here.length, 4);
    assert.deepEqual(plain(here.ranks()), JSON.parse(json).rows);
    assert.deepEqual(await there.ranks(), here.ranks());
    assert.equal(here.json(), json);
    assert.equal(here.table(), table);
    assert.equal(await there.table({ rank: 1 }), here.table({ rank: 1 }));
    assert.deepEqual(await there.rankSummaries(), here.rankSummaries());
  });
}

test("late ranks and their phases are named", async () => {
  const slow = await openRun(tracesOf("slow_forward"));
  const late = slow.ranks({ kinds: ["straggler"] });
  assert.deepEqual(
    late.map(({ rank, phase }) => [rank, phase]),
    [[2, "forward"]],
  );
  const alternating = await openRun(tracesOf("alternating"));
  const ranks = alternating.ranks({ kinds: ["straggler"] }).map(({ rank }) => rank);
  assert.deepEqual([...new Set(ranks)].sort(), [0, 1, 2, 3]);
  const { length, columns } = alternating.columns({ kinds: ["rank"] });
  assert.deepEqual([length, ...columns.rank], [4, 0, 1, 2, 3]);
});

test("summaries are those of the command line, and their order does not matter", async (t) => {
  const folder = mkdtempSync(`${tmpdir()}/ranks-`);
  t.after(() => rmSync(folder, { recursive: true }));
  const paths = tracesOf("two_groups");
  await kinetoscope("summarize", ...paths, "--output", `${folder}/all.ksum`);
  const expected = new Uint8Array(readFileSync(`${folder}/all.ksum`));
  const single = await Promise.all(paths.map((path) => summarize(path)));
  const trace = await open(paths[1]);
  assert.deepEqual(trace.rankSummary(), single[1]);
  assert.ok(trace.rankSummary({ name: "other.json" }).length > 0);
  trace.dispose();
  const remote = await worker.open(paths[2]);
  assert.deepEqual(await remote.rankSummary(), single[2]);
  remote.dispose();
  assert.deepEqual(await worker.summarize(paths[3]), single[3]);
  for (const order of [
    [0, 1, 2, 3],
    [3, 1, 0, 2],
    [2, 2, 3, 0, 1, 1],
  ]) {
    const run = await openRun(order.map((at) => single[at]));
    assert.deepEqual(run.rankSummaries(), expected);
  }
  const run = await openRun([expected]);
  const direct = await openRun(paths);
  assert.deepEqual(run.ranks(), direct.ranks());
});

test("what cannot be read is a note", async () => {
  const paths = tracesOf("slow_forward");
  const broken = readFileSync(paths[1]).subarray(0, 40);
  const sources = [
    paths[0],
    file(broken, "broken.json.gz"),
    file('{"learning_rate": 0.1}', "config.json"),
    file("KSUM\u0001 damaged", "damaged.ksum"),
    `${data}/none.json`,
    paths[2],
    paths[3],
  ];
  const notes = [{ code: "skipped", message: "readme.txt: a file of another kind" }];
  const here = await openRun(sources, { notes });
  const there = await worker.openRun(sources, { notes, workers: 3 });
  assert.deepEqual(there.notes, here.notes);
  assert.equal(here.length, 3);
  const found = here.notes.map(({ code, message }) => [code, message.split(":")[0]]);
  assert.deepEqual(found.slice(0, 5), [
    ["skipped", "readme.txt"],
    ["unreadable", "broken.json.gz"],
    ["skipped", "config.json"],
    ["unreadable", "damaged.ksum"],
    ["unreadable", "none.json"],
  ]);
  assert.ok(found.some(([code]) => code === "missing_rank"));
});

for (const [place, entry] of [
  ["here", { openRun, summarize, merge }],
  ["in workers", worker],
]) {
  test(`${place}: a run without a readable rank and invalid options are errors`, async () => {
    await assert.rejects(entry.openRun([]), { code: "empty" });
    await assert.rejects(entry.openRun([file("{}x", "a.json")]), { code: /^(empty|not_a_trace)$/, source: "a.json" });
    await assert.rejects(entry.openRun("a.json"), { code: "bad_source" });
    const paths = tracesOf("pipeline");
    await assert.rejects(entry.openRun(paths, { worker: 2 }), { code: "bad_option" });
    await assert.rejects(entry.openRun(paths, { workers: 0 }), { code: "bad_option" });
    await assert.rejects(entry.openRun(paths, { kernelRules: "nonsense" }), { code: "bad_option" });
    await assert.rejects(entry.openRun(paths, { signal: AbortSignal.abort() }), { code: "aborted" });
    await assert.rejects(entry.summarize(paths[0], { nam: "x" }), { code: "bad_option" });
    const run = await entry.openRun(paths);
    await assert.rejects(async () => run.ranks({ rank: 9 }), { code: "bad_option" });
    await assert.rejects(async () => run.ranks({ kinds: "rank" }), { code: "bad_option" });
    run.dispose();
    await assert.rejects(async () => run.ranks(), { code: "disposed" });
  });

  test(`${place}: merged traces have disjoint processes and one clock`, async () => {
    const paths = tracesOf("clocks");
    const text = await new Response(await entry.merge(paths)).text();
    const merged = JSON.parse(text);
    const ranksOf = new Map();
    let events = 0;
    for (const { pid, ph } of merged.traceEvents) {
      if (ph !== "M" && typeof pid === "number")
        ranksOf.set(Math.floor(pid / 1e7), (ranksOf.get(Math.floor(pid / 1e7)) ?? 0) + 1);
      events += 1;
    }
    assert.deepEqual([...ranksOf.keys()].sort(), [0, 1, 2, 3]);
    assert.deepEqual(
      merged.ranks.map(({ rank }) => rank),
      [0, 1, 2, 3],
    );
    assert.ok(merged.ranks.some(({ offset_ns }) => offset_ns !== 0));
    const back = await open(new TextEncoder().encode(text));
    assert.equal(back.length, events);
    back.dispose();
    const two = JSON.parse(await new Response(await entry.merge(paths, { ranks: [1, 3] })).text());
    assert.deepEqual(
      two.ranks.map(({ rank }) => rank),
      [1, 3],
    );
  });

  test(`${place}: sources that cannot be merged are refused`, async () => {
    const paths = tracesOf("pipeline");
    const refused = [new Blob([readFileSync(paths[0])]).stream(), new Response("{}"), new Request("https://a.example")];
    for (const source of refused) {
      await assert.rejects(entry.merge([paths[1], source]), { code: "bad_source", message: /only once/ });
    }
    const summary = await entry.summarize(paths[0]);
    await assert.rejects(entry.merge([paths[1], summary]), { code: "bad_source", message: /no events/ });
    await assert.rejects(entry.merge(paths, { ranks: [7] }), { code: "bad_option", message: /rank 7/ });
    const stream = await entry.merge(paths);
    await stream.cancel();
  });
}

test("sources with the same name stay different ranks", async () => {
  const sources = tracesOf("clocks").map((path) => new Uint8Array(readFileSync(path)));
  const merged = JSON.parse(await new Response(await merge(sources)).text());
  assert.deepEqual(
    merged.ranks.map(({ rank }) => rank),
    [0, 1, 2, 3],
  );
});

test("progress counts sources, bytes and events", async () => {
  for (const opened of [openRun, worker.openRun]) {
    const seen = [];
    const run = await opened(tracesOf("clocks"), { onProgress: (progress) => seen.push(progress) });
    const last = seen.at(-1);
    assert.deepEqual([last.done, last.total], [4, 4]);
    assert.ok(last.bytes > 300_000 && last.events > 1000, JSON.stringify(last));
    run.dispose();
  }
});
