// Bad input gives a typed error or a partial trace, never a trap, and memory is freed.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { KinetoscopeError, QUERIES, memoryBytes, open, repair } from "kinetoscope";
import { open as openInline } from "kinetoscope/inline";
import { open as openRemote } from "kinetoscope/worker";
import { data, fixtures } from "./files.js";

const path = fixtures().find((path) => path.endsWith("torch/kineto/transformer_training/trace.json.gz"));
const packed = new Uint8Array(await readFile(path));
const text = new Uint8Array(gunzipSync(packed));

/** Checks that the module still works. */
async function stillWorks() {
  const trace = await open(packed);
  assert.equal(trace.length, 2576);
  trace.dispose();
}

async function refusal(source, options) {
  const error = await open(source, options).then(
    () => assert.fail("the source was read"),
    (error) => error,
  );
  assert.ok(error instanceof KinetoscopeError, `${error}`);
  await stillWorks();
  return error;
}

test("a source that is not a trace is refused with a code", async () => {
  for (const [source, code, offset] of [
    [new Uint8Array(), "empty", 0],
    [new TextEncoder().encode("  <!doctype html><title>404</title>"), "not_a_trace", 0],
    [gzipSync("<html>"), "not_a_trace", 0],
    [new TextEncoder().encode(`{"nodes": [], "schema": "1.0"}`), "not_a_trace", 30],
    [new Blob([]), "empty", 0],
    [new Response("gone", { status: 404 }), "http", undefined],
    [new Response(null, { status: 200 }), "empty", 0],
    [`${data}/no/such/file.json`, "io", undefined],
    [data, "io", undefined],
    [42, "bad_source", undefined],
    [null, "bad_source", undefined],
    [{ length: 3 }, "bad_source", undefined],
    [new Blob(["not", "bytes"]).stream().pipeThrough(new TextDecoderStream()), "bad_source", undefined],
  ]) {
    const error = await refusal(source);
    assert.deepEqual([error.code, error.byteOffset], [code, offset], error.message);
  }
  const [good, bad] = [packed, new Uint8Array()];
  assert.equal((await refusal([good, bad])).code, "empty");
});

test("an invalid option is refused with a code", async () => {
  const trace = await open(packed);
  for (const call of [
    () => trace.ops({ colour: "red" }),
    () => trace.ops({ sortBy: "beauty" }),
    () => trace.tree({ depth: "deep" }),
    () => trace.rows("horoscope"),
    () => trace.export("horoscope"),
    () => trace.export("slice"),
    () => trace.event(1e6),
    () => trace.event(1.5),
    () => trace.event(),
    () => trace.related(-1),
    () => trace.instances(null),
    () => trace.rows(5),
    () => trace.table(),
    () => trace.find("aten::mm"),
    () => trace.find([5]),
    () => trace.tiles(),
    () => trace.tiles({ track: 0, startNs: 0n, endNs: 1, pixels: 1 }),
    () => trace.tiles({ track: 999, startNs: 0, endNs: 1, pixels: 1 }),
    () => trace.curve({ counter: 999, startNs: 0, endNs: 1, pixels: 1 }),
    () => trace.export(7),
  ]) {
    assert.throws(call, (error) => error instanceof KinetoscopeError && error.code === "bad_option");
  }
  trace.dispose();
  trace.dispose();
  assert.throws(() => trace.ops(), { code: "disposed" });
});

test("an invalid option of reading is refused with a code", async () => {
  for (const options of [
    { torchVersion: 2.15 },
    { torchVersion: ["2.11"] },
    { kernelRules: 1 },
    { kernelRules: "gemm" },
    { memoryLimit: "much" },
    { memoryLimit: "5" },
    { signal: {} },
    { signal: null },
    { onProgress: 1 },
    { colour: "red" },
    null,
  ]) {
    assert.equal((await refusal(packed, options)).code, "bad_option");
    await assert.rejects(openRemote(packed, options), { code: "bad_option" });
  }
});

test("every query is a method in camel case", async () => {
  const [trace, remote] = [await open(packed), await openRemote(packed)];
  for (const query of Object.keys(QUERIES)) {
    const name = query === "check" ? "dataQuality" : query.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
    const answer = trace.rows(query);
    assert.deepEqual(trace[name](), QUERIES[query] ? answer[0] : answer, query);
    assert.deepEqual(await remote[name](), QUERIES[query] ? answer[0] : answer, query);
  }
  trace.dispose();
  remote.dispose();
});

test("defects are counted and the rest is read", async () => {
  const diagnose = async (source) => {
    // `openInline` uses DecompressionStream, `open` Node's zlib.
    const other = await openInline(source());
    const trace = await open(source());
    assert.deepEqual(other.diagnostics(), trace.diagnostics());
    assert.ok(other.json("events") === trace.json("events"));
    other.dispose();
    const found = Object.fromEntries(trace.diagnostics().map(({ code, count }) => [code, count]));
    const { length } = trace;
    trace.dispose();
    return { length, found };
  };
  for (const make of [(bytes) => () => bytes, (bytes) => () => new Blob([bytes]).stream()]) {
    const cut = await diagnose(make(packed.slice(0, packed.length >> 1)));
    assert.equal(cut.found.compressed_cut, 1);
    assert.ok(cut.length > 100 && cut.length < 2576, `${cut.length}`);
    const flipped = packed.slice();
    flipped[flipped.length >> 1] ^= 0xff;
    const damaged = await diagnose(make(flipped));
    assert.ok(damaged.found.compressed_damaged === 1 || damaged.found.compressed_cut === 1);
    const trailing = await diagnose(make(new Uint8Array([...packed, 1, 2, 3])));
    assert.deepEqual([trailing.length, trailing.found.compressed_trailing], [2576, 1]);
    const half = text.length >> 1;
    const members = Buffer.concat([gzipSync(text.slice(0, half)), gzipSync(text.slice(half))]);
    const two = await diagnose(make(new Uint8Array(members)));
    assert.equal(two.length, 2576);
    assert.equal(two.found.compressed_damaged, undefined);
    assert.equal((await diagnose(make(text.slice(0, half)))).found.truncated, 1);
  }
});

test("aborting ends the reading and frees its memory", async () => {
  const reason = new Error("enough");
  const early = await refusal(packed, { signal: AbortSignal.abort(reason) });
  assert.deepEqual([early.code, early.name, early.reason], ["aborted", "AbortError", reason]);

  const controller = new AbortController();
  let cancelled = false;
  const endless = new ReadableStream({
    start: (out) => out.enqueue(new TextEncoder().encode(`{"traceEvents": [`)),
    async pull(out) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      out.enqueue(new TextEncoder().encode(`{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},`));
    },
    cancel: () => void (cancelled = true),
  });
  setTimeout(() => controller.abort(), 50);
  assert.equal((await refusal(endless, { signal: controller.signal })).code, "aborted");
  assert.ok(cancelled);

  const inWorker = new AbortController();
  const generator = new ReadableStream({
    pull: (out) => out.enqueue(new TextEncoder().encode(`{"traceEvents": [\n`)),
  });
  setTimeout(() => inWorker.abort(), 50);
  await assert.rejects(openRemote(generator, { signal: inWorker.signal }), { code: "aborted" });
});

test("a failing source and an invalid source give different errors", async () => {
  const failing = (bytes) =>
    new ReadableStream({
      start: (out) => out.enqueue(bytes),
      pull: (out) => out.error(new Error("the cable")),
    });
  for (const bytes of [text.slice(0, 1000), packed.slice(0, 1000)]) {
    const error = await refusal(failing(bytes));
    assert.deepEqual([error.code, error.message, error.source], ["io", "the cable", "stream"]);
  }
  const own = new Error("thrown by the caller");
  const throwing = {
    onProgress() {
      throw own;
    },
  };
  for (const bytes of [packed, text]) {
    await assert.rejects(open(bytes, throwing), (error) => error === own);
    await assert.rejects(openRemote(bytes, throwing), (error) => error === own);
  }
  await assert.rejects(open(packed, { memoryLimit: -1 }), { code: "bad_option" });
  await stillWorks();
});

test("the version of PyTorch can be given", async () => {
  const bytes = new Uint8Array(await readFile(`${data}/torch/2.15/kineto/small_program/trace.json.gz`));
  const rows = async (options) => {
    const trace = await open(bytes, options);
    const count = trace.ops().length;
    trace.dispose();
    return count;
  };
  assert.equal(await rows({}), 29);
  assert.equal(await rows({ torchVersion: "2.13.0" }), 102);
  await assert.rejects(rows({ torchVersion: "new" }), { code: "bad_option" });
});

test("rules for the categories of kernels can be given", async () => {
  const bytes = new Uint8Array(await readFile(`${data}/healthy/small_gpu_trace.json`));
  const categories = async (open, options) => {
    const trace = await open(bytes, options);
    const rows = await trace.kernels();
    trace.dispose();
    return new Set(rows.map((row) => row.category));
  };
  for (const opened of [open, openRemote]) {
    assert.ok(!(await categories(opened, {})).has("moe_gemm"));
    assert.ok((await categories(opened, { kernelRules: "# mine\nmoe_gemm,*\n" })).has("moe_gemm"));
    await assert.rejects(categories(opened, { kernelRules: "gemm,a\nmoo,*" }), {
      code: "bad_option",
      message: /line 2/,
    });
  }
});

test("traces and errors over HTTP", async (t) => {
  const server = createServer((request, response) => {
    if (request.url === "/run.json.gz") return response.end(packed);
    if (request.url === "/cut.json.gz") {
      response.writeHead(200, { "content-length": packed.length });
      response.write(packed.slice(0, 1000));
      return setTimeout(() => response.destroy(), 20);
    }
    response.writeHead(404, { "content-type": "text/html" }).end("<html>no</html>");
  });
  server.listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const place = `http://127.0.0.1:${server.address().port}`;
  const trace = await open(`${place}/run.json.gz`);
  assert.deepEqual([trace.name, trace.length], ["run.json.gz", 2576]);
  trace.dispose();
  const there = await openRemote(new URL(`${place}/run.json.gz`));
  assert.equal((await there.info()).events, 2576);
  there.dispose();
  const missing = await refusal(new URL(`${place}/other.json`));
  assert.deepEqual([missing.code, missing.source], ["http", "other.json"]);
  assert.equal((await refusal(await fetch(`${place}/other.json`))).code, "http");
  await assert.rejects(openRemote(`${place}/other.json`), { code: "http", source: "other.json" });
  assert.equal((await refusal(`${place}/cut.json.gz`)).code, "io");
  assert.equal((await refusal("http://127.0.0.1:1/x.json")).code, "io");
});

test("at the memory limit the reader stops and keeps what it has read", async () => {
  const event = `{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1.5,"dur":1,"args":{"n":123456}},`;
  const long = new TextEncoder().encode(`{"traceEvents": [${event.repeat(200_000)}{}]}`);
  for (const source of [long, new Uint8Array(gzipSync(long))]) {
    const trace = await open(source, { memoryLimit: 4e6 });
    assert.ok(trace.length > 10_000 && trace.length < 100_000, `${trace.length}`);
    const limit = trace.diagnostics().find(({ code }) => code === "memory_limit");
    assert.deepEqual([limit.count, limit.severity], [1, "lost"]);
    assert.ok(limit.first_offset > event.length * 10_000);
    trace.dispose();
  }
});

test("disposing frees memory", async () => {
  const cycle = async () => {
    const trace = await open(packed);
    for (const query of ["summary", "ops", "events"]) trace.rows(query);
    await new Response(trace.export("chrome")).arrayBuffer();
    await trace.export("csv").cancel();
    trace.dispose();
    await open(packed.slice(0, 9000)).then((cut) => cut.dispose());
    await open(new Uint8Array([60])).catch(() => undefined);
  };
  for (let n = 0; n < 5; n++) await cycle();
  const before = memoryBytes();
  for (let n = 0; n < 50; n++) await cycle();
  assert.equal(memoryBytes(), before);
});

test("repair returns a stream, and fails with a code", async () => {
  const clean = await new Response(await repair(text.slice(0, text.length >> 1))).json();
  assert.ok(clean.traceEvents.length > 1000);
  const stream = await repair(new TextEncoder().encode("<html>"));
  await assert.rejects(new Response(stream).text(), { code: "not_a_trace" });
  await assert.rejects(repair(7), { code: "bad_source" });
  await stillWorks();
});

test("an undisposed worker does not keep Node alive", () => {
  const script = `
    import { open } from "kinetoscope/worker";
    const trace = await open(${JSON.stringify(path)});
    console.log(trace.length, (await trace.info()).events);
  `;
  const here = new URL(".", import.meta.url);
  const stdout = execFileSync("node", ["--input-type=module", "-e", script], { cwd: here, timeout: 20_000 });
  assert.equal(String(stdout), "2576 2576\n");
});
