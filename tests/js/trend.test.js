// The trend of a history: the answers equal those of the command line, in the same thread and in workers.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { trend } from "kinetoscope";
import * as worker from "kinetoscope/worker";
import { data, kinetoscope } from "./files.js";

const folder = mkdtempSync(join(tmpdir(), "kinetoscope-trend-"));
after(() => rmSync(folder, { recursive: true }));

/** Writes a history and returns its path. */
function written(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A line of a history. */
const line = (at, metrics) =>
  `${JSON.stringify({
    schema: "kinetoscope.history/1",
    time: 1_700_000_000 + at * 3600,
    commit: at % 5 === 4 ? "" : `${at}`.padStart(2, "0").repeat(20),
    host: `host${at % 2}`,
    metrics,
  })}\n`;

/** Runs whose step becomes slower at the ninth, and whose kernel appears late. */
const made = Array.from({ length: 16 }, (_, at) =>
  line(at, {
    step: (at < 8 ? 25e6 : 31e6) + ((at * 7919) % 13) * 1e4,
    launches: 120,
    "memory peak": 2 ** 30,
    ...(at > 3 ? { "kernel gemm «µ»": 4e6 + at } : {}),
  }),
);

async function agrees(path) {
  const [json, table] = await Promise.all(
    ["json", "table"].map(async (format) => (await kinetoscope("trend", path, "--format", format)).stdout),
  );
  const here = await trend(path);
  assert.equal(here.json, json);
  assert.equal(here.table, table);
  assert.deepEqual(here.rows, JSON.parse(json).rows);
  assert.deepEqual(await worker.trend(path), here);
  assert.deepEqual(await trend(new File([readFileSync(path)], "history.jsonl")), here);
  return here;
}

test("the answers equal those of the command line", async () => {
  const { rows, runs } = await agrees(written("made.jsonl", made.join("")));
  const [change] = rows;
  assert.deepEqual([change.kind, change.metric, change.unit, change.run], ["change", "step", "ns", 9]);
  assert.equal(change.commit, "08".repeat(20));
  assert.equal(runs.length, 16);
  assert.deepEqual(runs[4], { run: 5, commit: "", host: "host0", time_s: 1_700_014_400 });
  const late = rows.find(({ metric }) => metric.startsWith("kernel"));
  assert.deepEqual(late.values.slice(0, 5), [null, null, null, null, 4_000_004]);
});

test("recorded lines, and one without a change", async () => {
  const path = join(folder, "recorded.jsonl");
  for (const name of ["base1", "base2", "host_sleep1"]) {
    const trace = `${data}/pairs/${name}.json.gz`;
    const { code } = await kinetoscope("check", trace, "--record", path);
    assert.equal(code, 0);
  }
  assert.equal((await agrees(path)).runs.length, 3);
  const { rows } = await agrees(written("one.jsonl", made[0]));
  assert.ok(rows.every(({ kind }) => kind === "series"));
});

test("what is no history is refused as by the command line", async () => {
  for (const [name, text, code] of [
    ["empty.jsonl", "", "empty"],
    ["other.jsonl", `${made[0]}{"schema":"x"}\n`, "bad_option"],
    ["text.jsonl", "no JSON", "bad_option"],
  ]) {
    const path = written(name, text);
    const { stderr } = await kinetoscope("trend", path);
    for (const one of [trend, worker.trend]) {
      await assert.rejects(one(path), (error) => {
        assert.equal(error.code, code);
        assert.equal(error.source, name);
        assert.ok(stderr.includes(error.message), `${stderr} contains ${error.message}`);
        return true;
      });
    }
  }
  await assert.rejects(trend(written("bytes.jsonl", Buffer.from([0xff, 0xfe]))), { code: "bad_source" });
  await assert.rejects(trend(join(folder, "absent.jsonl")), { code: "io" });
  await assert.rejects(trend(5), { code: "bad_source" });
  await assert.rejects(trend(join(folder, "made.jsonl"), { rowLimit: 1 }), { code: "bad_option" });
  const stop = new AbortController();
  stop.abort();
  await assert.rejects(trend(join(folder, "made.jsonl"), { signal: stop.signal }), { code: "aborted" });
});
