// The engine gives the same answers in Node and natively, byte for byte.

import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { test } from "node:test";
import { QUERIES, open } from "kinetoscope";
import { open as openRemote } from "kinetoscope/worker";
import { corpus, data, fixtures, kinetoscope, nativeAnswers } from "./files.js";

const queries = Object.keys(QUERIES);

/** Checks that the answers in Node equal those of the native engine. */
async function agree(path, native) {
  let trace;
  try {
    trace = await open(path);
  } catch (error) {
    assert.equal(native.error, `${path}: ${error.message}`, `${path}: only Node refuses the file`);
    assert.match(error.code, /^(empty|not_a_trace)$/);
    assert.equal(typeof error.byteOffset, "number");
    return "refused";
  }
  assert.equal(native.error, undefined, `${path}: only Node reads the file`);
  for (const query of queries) assert.ok(answer(trace, query) === native.answers[query], `${path}: ${query} differs`);
  trace.dispose();
  return "read";
}

function answer(trace, query) {
  try {
    return trace.json(query);
  } catch (error) {
    return `error: ${error.message}`;
  }
}

async function agreeOnAll(paths) {
  const counts = { read: 0, refused: 0 };
  let at = 0;
  for await (const native of nativeAnswers(paths)) counts[await agree(paths[at++], native)] += 1;
  assert.equal(at, paths.length);
  return counts;
}

test("all queries agree on all fixtures", async () => {
  const { read, refused } = await agreeOnAll(fixtures());
  assert.ok(read >= 120 && refused >= 10, `${read} read, ${refused} refused`);
});

test("refused files give the error message of the command line", async () => {
  for (const path of fixtures().filter((path) => path.includes("/refused/"))) {
    const error = await open(path).catch((error) => error);
    const { stdout, stderr, code } = await kinetoscope("info", path);
    assert.deepEqual([stdout, stderr, code], ["", `kinetoscope: ${path}: ${error.message}\n`, 2]);
  }
});

test("all queries agree on all real traces", async (t) => {
  const paths = corpus();
  if (paths.length === 0) return t.skip("the real traces are not in ../shared/traces");
  const { read, refused } = await agreeOnAll(paths);
  assert.ok(read >= 126, `${read} read, ${refused} refused`);
});

const gpu = `${data}/healthy/small_gpu_trace.json`;

test("tables, CSV, Markdown and exports equal the output of the command line", async () => {
  const trace = await open(gpu);
  for (const query of queries) {
    for (const [format, text] of [
      ["table", trace.table(query)],
      ["csv", trace.csv(query)],
      ["md", trace.markdown(query)],
    ]) {
      assert.equal(text, (await kinetoscope(query, gpu, "--format", format)).stdout, `${query} as ${format}`);
    }
  }
  const options = { groupBy: ["shape", "stack:5"], sortBy: "self_cuda_time_total", rowLimit: 2, timeUnit: "us" };
  const flags = "--group-by shape,stack:5 --sort-by self_cuda_time_total --row-limit 2 --time-unit us".split(" ");
  assert.equal(trace.table("ops", options), (await kinetoscope("ops", gpu, ...flags)).stdout);
  for (const [name, options, flags] of [
    ["chrome", {}, ["export", "chrome"]],
    ["csv", {}, ["export", "csv"]],
    ["folded", { lanes: true }, ["export", "folded", "--lanes"]],
    ["slice", { time: [0, 20_000] }, ["slice", "--time", "0ns..20us"]],
    ["shrink", { minDuration: "5us", drop: ["ac2g"] }, ["shrink", "--min-duration", "5us", "--drop", "ac2g"]],
    ["redact", { salt: "pepper" }, ["redact", "--salt", "pepper"]],
  ]) {
    const text = await new Response(trace.export(name, options)).text();
    assert.equal(text, (await kinetoscope(...flags, gpu)).stdout, name);
  }
});

test("regular expressions find the same names as on the command line", async () => {
  const path = `${data}/torch/kineto/mlp_training/trace.json.gz`;
  const trace = await open(path);
  for (const name of ["^aten::(mm|addmm)$", "nn\\.Module: Linear_\\d+", "[bB]ackward0", "none of these"]) {
    const output = await kinetoscope("patterns", path, "--name", name);
    assert.equal(trace.table("patterns", { name }), output.stdout, name);
  }
  assert.throws(() => trace.patterns({ name: "aten::(" }), { code: "bad_option", message: /^name: .*aten::\(/ });
  assert.ok(trace.patterns({ name: "^aten::mm$" }).length > 0, "the engine works after an error");
  trace.dispose();
});

test("execution traces are joined as on the command line", async () => {
  const folder = `${data}/torch/2.15/kineto/execution_trace_training`;
  const [path, executionTrace] = [`${folder}/trace.json.gz`, `${folder}/execution_trace.json.gz`];
  const expected = JSON.parse(
    (await kinetoscope("events", path, "--execution-trace", executionTrace, "--format", "json")).stdout,
  ).rows;
  assert.ok(expected.filter((event) => event.outputs.length > 0).length > 80);
  const [here, there] = [await open(path, { executionTrace }), await openRemote(path, { executionTrace })];
  assert.deepEqual(here.events(), expected);
  assert.deepEqual(await there.events(), expected);
  const flags = ["export", "execution-trace", path, "--execution-trace", executionTrace];
  assert.equal(await new Response(here.export("execution-trace")).text(), (await kinetoscope(...flags)).stdout);
  await assert.rejects(open(path, { executionTrace: path }), {
    code: "bad_option",
    source: "trace.json.gz",
    message: "this is no execution trace",
  });
  for (const trace of [here, there]) trace.dispose();
});

test("rows and columns equal the JSON document", async () => {
  for (const path of [
    gpu,
    ...fixtures()
      .filter((path) => path.includes("/kineto/"))
      .slice(0, 8),
  ]) {
    const trace = await open(path);
    for (const query of queries) {
      const rows = trace.rows(query);
      const document = JSON.parse(trace.json(query)).rows;
      // Unix times are text in rows, and numbers in the document.
      const isTime = (key, value) => /^(base_time|start|at)_ns$/.test(key) && typeof value === "string";
      const plain = (value) => JSON.stringify(value, (key, v) => (isTime(key, v) ? Number(v) : v));
      assert.equal(plain(rows), plain(document), query);
      const { length, columns } = trace.columns(query);
      assert.equal(length, rows.length);
      for (const [key, column] of Object.entries(columns)) {
        for (const [at, row] of rows.entries()) {
          const value = key in row ? row[key] : null;
          assert.deepEqual(cell(column, at), value, `${query} ${key} ${at}`);
        }
      }
    }
    assert.equal(typeof trace.info().start_ns, "string");
    trace.dispose();
  }
});

function cell(column, at) {
  if (column.codes) return column.dictionary[column.codes[at]] ?? null;
  if (column instanceof Float64Array) return Number.isNaN(column[at]) ? null : column[at];
  if (column instanceof Uint8Array) return column[at] === 2 ? null : column[at] === 1;
  return column[at];
}

test("a worker gives the same answers", async () => {
  const [here, there] = [await open(gpu), await openRemote(gpu)];
  assert.deepEqual([there.name, there.startNs, there.length], [here.name, here.startNs, here.length]);
  for (const query of queries) {
    assert.deepEqual(await there.rows(query), here.rows(query), query);
    assert.equal(await there.json(query), here.json(query));
    assert.deepEqual(await there.columns(query), here.columns(query));
  }
  assert.deepEqual(await there.diagnostics(), here.diagnostics());
  const window = { track: 0, startNs: 0, endNs: 1e6, pixels: 50 };
  assert.deepEqual(await there.tiles(window), here.tiles(window));
  const { event } = here.find(["aten::mm"]);
  assert.ok(event.length > 0);
  assert.deepEqual(await there.find(["aten::mm"]), here.find(["aten::mm"]));
  assert.deepEqual(await there.related(event[0]), here.related(event[0]));
  assert.deepEqual(await there.instances(0, { groupBy: ["module"] }), here.instances(0, { groupBy: ["module"] }));
  const curve = { counter: 0, startNs: 0, endNs: 1e6, pixels: 50 };
  assert.deepEqual(await there.curve(curve), here.curve(curve));
  await assert.rejects(there.curve({ ...curve, counter: 99 }), { code: "bad_option" });
  assert.throws(() => here.related(1e9), { code: "bad_option" });
  assert.deepEqual(await there.event(3), here.event(3));
  assert.equal(await new Response(there.export("chrome")).text(), await new Response(here.export("chrome")).text());
  there.dispose();
});

test("every kind of source gives the same trace", async () => {
  const path = fixtures().find((path) => path.endsWith("trace.json.gz"));
  const bytes = await readFile(path);
  const expected = (await open(path)).json("ops").replace(basename(path), "NAME");
  const { size } = await stat(path);
  for (const [name, source] of [
    ["bytes", new Uint8Array(bytes)],
    ["bytes", bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)],
    ["blob", new Blob([bytes])],
    ["a.json.gz", new File([bytes], "a.json.gz")],
    ["stream", new Blob([bytes]).stream()],
    ["response", new Response(bytes)],
    [basename(path), new URL(`file://${path}`)],
  ]) {
    let last;
    const trace = await open(source, { onProgress: (progress) => (last = progress) });
    assert.equal(trace.name, name);
    assert.ok(trace.json("ops").replace(name, "NAME") === expected, name);
    assert.equal(last.bytes, size);
    assert.equal(last.events, trace.length);
    assert.equal(last.preview.events, trace.length);
    trace.dispose();
  }
  const traces = await open([path, gpu]);
  assert.deepEqual(
    traces.map((trace) => trace.name),
    [basename(path), basename(gpu)],
  );
});
