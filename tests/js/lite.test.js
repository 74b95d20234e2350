// `kinetoscope/lite` gives the answers of the complete engine, and refuses what it lacks.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { open } from "kinetoscope";
import { memoryBytes, open as openLite } from "kinetoscope/lite";
import { data, fixtures } from "./files.js";

const QUERIES = ["summary", "ops", "tracks"];
const gpu = `${data}/healthy/small_gpu_trace.json`;

/** The answers of a trace; of a file that is refused, the error. */
async function answers(open, path) {
  let trace;
  try {
    trace = await open(path);
  } catch ({ code, message, byteOffset }) {
    return { code, message, byteOffset };
  }
  const texts = QUERIES.map((query) => [
    trace.json(query),
    trace.table(query),
    trace.csv(query),
    trace.markdown(query),
  ]);
  const window = { startNs: 0, endNs: 1e9, pixels: 300 };
  const tiles = trace.tracks().map((_, track) => trace.tiles({ track, ...window }));
  const { name, startNs, length } = trace;
  const answers = { name, startNs, length, diagnostics: trace.diagnostics(), texts, tiles };
  trace.dispose();
  return answers;
}

test("every answer is that of the complete engine", async () => {
  let refused = 0;
  for (const path of fixtures()) {
    const [lite, complete] = [await answers(openLite, path), await answers(open, path)];
    assert.deepEqual(lite, complete, path);
    if (lite.code) refused += 1;
  }
  assert.ok(refused >= 10, `${refused} refused`);
});

test("rows, columns, options and progress are those of the complete engine", async () => {
  const [lite, complete] = [await openLite(gpu), await open(gpu)];
  const options = { groupBy: ["shape"], sortBy: "self_cuda_time_total", rowLimit: 2 };
  assert.deepEqual(lite.summary(), complete.summary());
  assert.deepEqual(lite.ops(options), complete.ops(options));
  assert.deepEqual(lite.columns("ops", options), complete.columns("ops", options));
  assert.throws(() => lite.ops({ sort: "name" }), { code: "bad_option" });
  let last;
  const several = await openLite([gpu, gpu], { onProgress: (progress) => (last = progress) });
  assert.deepEqual([several.length, several[1].length, last.events], [2, lite.length, lite.length]);
  assert.ok(memoryBytes() > 0);
  lite.dispose();
  assert.throws(() => lite.summary(), { code: "disposed" });
});

test("what it lacks is absent or refused", async () => {
  const trace = await openLite(gpu);
  const message = "kernels is not an analysis of kinetoscope/lite";
  for (const ask of ["rows", "columns", "json", "table", "csv", "markdown"]) {
    assert.throws(() => trace[ask]("kernels"), { name: "KinetoscopeError", code: "bad_option", message });
  }
  for (const method of ["kernels", "find", "related", "export", "profile", "event"])
    assert.equal(trace[method], undefined);
  await assert.rejects(openLite(gpu, { executionTrace: gpu }), { code: "bad_option" });
});

test("its engine is smaller", () => {
  const size = (entry) => statSync(fileURLToPath(import.meta.resolve(entry))).size;
  assert.ok(size("kinetoscope/lite.wasm") < 0.6 * size("kinetoscope/kinetoscope.wasm"));
});
