// Threads that help to read: a trace is the same with any number of them, whatever the source and its damage.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { gunzipSync, gzipSync } from "node:zlib";
import { KinetoscopeError } from "kinetoscope";
import { open as openRemote } from "kinetoscope/worker";
import { createClient } from "../../wasm/js/dist/client/client.js";
import { code, load } from "../../wasm/js/dist/engine/complete.js";
import { gunzip, inputOf } from "../../wasm/js/dist/reading/node.js";
import { data, root } from "./files.js";

const dist = `${root}wasm/js/dist`;

/** The text of a trace whose events are repeated at later times, 40 MB. */
function repeated() {
  const path = `${data}/torch/kineto/transformer_training/trace.json.gz`;
  return readFile(path).then((packed) => {
    const trace = JSON.parse(gunzipSync(packed));
    const events = Array.from({ length: 24 }, (_, turn) =>
      trace.traceEvents.map((event) => ({ ...event, ts: event.ts + turn * 1e6 })),
    );
    return Buffer.from(JSON.stringify({ ...trace, traceEvents: events.flat() }, undefined, 1));
  });
}

const text = await repeated();
const packed = gzipSync(text, { level: 1 });

/** What parse workers did: the number of pieces with a segment, and of decompressed pieces. */
const done = { segments: 0, inflated: 0 };

function spawn(onResult, onFailure) {
  const worker = new Worker(`${dist}/entry/parse-thread-node.js`);
  worker.on("message", (result) => {
    if (result.is === "parsed" && result.piece.segment) done.segments += 1;
    if (result.is === "piece" && result.piece) done.inflated += 1;
    onResult(result);
  });
  worker.on("error", onFailure);
  return worker;
}

const ready = () => load(() => readFile(`${dist}/kinetoscope.wasm`));

function client(parseWorkers) {
  return createClient({
    ready,
    input: inputOf,
    gunzip,
    parseWorkers: { spawn, code, processors: 4, inflates: true, ...parseWorkers },
  });
}

/** The diagnostics, a hash of all events, and the summary. */
function contents(trace) {
  const hash = createHash("sha256").update(trace.csv("events")).digest("hex");
  const { length, startNs } = trace;
  return { length, startNs, hash, diagnostics: trace.diagnostics(), summary: trace.json("summary") };
}

async function read(source, options, parseWorkers) {
  const trace = await client(parseWorkers).open(source(), options);
  try {
    return contents(trace);
  } finally {
    trace.dispose();
  }
}

/** The totals, tracks, densities and diagnostics of an outline, and a window. */
async function outlined(source, options) {
  const found = await client().outline(source(), options);
  try {
    const [startNs, endNs] = found.time;
    const tracks = found.tracks();
    const means = tracks.map(({ track }) => found.density({ track, startNs, endNs, pixels: 777 }));
    return { length: found.length, rows: found.rows(), tracks, means, diagnostics: found.diagnostics() };
  } finally {
    found.dispose();
  }
}

const stream = (bytes) => new Response(bytes).body;

/** Returns bytes with others in the place of some. */
function damaged(bytes, ...places) {
  const copy = new Uint8Array(bytes);
  for (const place of places) copy.set(Buffer.from('"]}, x {"'), Math.floor(copy.length * place));
  return copy;
}

const utf16 = Buffer.from(`\ufeff${text.subarray(0, 6 << 20).toString("latin1")}`, "utf16le");

/** Sources, whether parse workers parse them, and whether parse workers decompress them. */
const SOURCES = {
  plain: [() => text, true, false],
  "a plain stream": [() => stream(text), true, false],
  "a blob": [() => new File([packed], "trace.json.gz"), true, true],
  "a gzip stream": [() => stream(packed), true, true],
  "two members": [() => Buffer.concat([packed, gzipSync(" ".repeat(9))]), true, true],
  "truncated text": [() => text.subarray(0, text.length - 12_345), true, false],
  "damaged text": [() => damaged(text, 0.1, 0.35, 0.36, 0.7), true, false],
  "truncated gzip": [() => packed.subarray(0, packed.length - 100_000), true, true],
  "damaged gzip": [() => stream(damaged(packed, 0.6)), true, true],
  "UTF-16": [() => utf16, false, false],
};

for (const [name, [source, parses, inflates]] of Object.entries(SOURCES)) {
  test(`${name}: the same with parse workers`, async () => {
    const alone = await read(source, { threads: 0 });
    assert.ok(alone.length > 2000);
    for (const threads of [1, 3]) {
      Object.assign(done, { segments: 0, inflated: 0 });
      assert.deepEqual(await read(source, { threads }), alone);
      assert.equal(done.segments > 2, parses, `${done.segments} segments`);
      assert.equal(done.inflated > 2, inflates, `${done.inflated} pieces`);
    }
  });
}

for (const [name, [source, parses, inflates]] of Object.entries(SOURCES)) {
  test(`${name}: the same outline with parse workers`, async () => {
    const alone = await outlined(source, { threads: 0 });
    assert.ok(alone.length > 2000);
    for (const threads of [1, 3]) {
      Object.assign(done, { segments: 0, inflated: 0 });
      assert.deepEqual(await outlined(source, { threads }), alone);
      assert.equal(done.segments > 2, parses, `${done.segments} segments`);
      assert.equal(done.inflated > 2, inflates, `${done.inflated} pieces`);
    }
  });
}

test("most of a trace is parsed by parse workers", async () => {
  Object.assign(done, { segments: 0 });
  await read(() => text, { threads: 2 });
  assert.ok(done.segments >= Math.floor(text.length / (2 << 20)) - 1, `${done.segments} segments`);
});

test("a memory limit stops at the same event", async () => {
  for (const memoryLimit of [4 << 20, 8 << 20]) {
    const alone = await read(() => text, { threads: 0, memoryLimit });
    assert.ok(alone.diagnostics.some(({ code }) => code === "memory_limit"));
    assert.deepEqual(await read(() => packed, { threads: 2, memoryLimit }), alone);
  }
});

test("a trace is read without parse workers that cannot be started", async () => {
  const alone = await read(() => text, { threads: 0 });
  const fails = {
    "a platform without threads": { spawn: () => assert.fail("no threads"), inflates: false },
    "a platform without threads, which decompresses": { spawn: () => assert.fail("no threads"), inflates: true },
    "a thread that ends, which decompresses": { spawn: (onResult, onFailure) => failing(onFailure), inflates: true },
    "a thread that ends": { spawn: (onResult, onFailure) => failing(onFailure), inflates: false },
    "another engine": {
      code: async () => new WebAssembly.Module(Buffer.from("0061736d01000000", "hex")),
      inflates: false,
    },
  };
  for (const [name, parseWorkers] of Object.entries(fails)) {
    assert.deepEqual(await read(() => packed, { threads: 2 }, parseWorkers), alone, name);
  }
});

/** A parse worker that fails at once. */
function failing(onFailure) {
  setTimeout(() => onFailure(new Error("the worker could not be started")));
  return { postMessage: () => undefined, terminate: () => undefined };
}

test("a parse worker that fails later, a source that fails and an abort are errors", async () => {
  const broken = (onResult, onFailure) => {
    const worker = spawn(
      (result) => (result.is === "parsed" ? onFailure(new Error("no memory")) : onResult(result)),
      onFailure,
    );
    return worker;
  };
  const failure = (promise) =>
    promise.then(
      () => assert.fail("the source was read"),
      (error) => error,
    );
  const lost = await failure(read(() => text, { threads: 2 }, { spawn: broken }));
  assert.deepEqual([lost.code, lost.message], ["internal", "no memory"]);
  async function* ending() {
    yield text.subarray(0, 9 << 20);
    throw new Error("the connection was lost");
  }
  const gone = await failure(read(() => ReadableStream.from(ending()), { threads: 2 }));
  assert.deepEqual([gone.code, gone.message], ["io", "the connection was lost"]);
  const controller = new AbortController();
  const onProgress = () => controller.abort();
  const aborted = await failure(read(() => packed, { threads: 2, signal: controller.signal, onProgress }));
  assert.ok(aborted instanceof KinetoscopeError && aborted.code === "aborted", `${aborted}`);
});

test("the worker of the package reads with parse workers", async () => {
  const alone = await read(() => packed, { threads: 0 });
  for (const threads of [undefined, 0, 2]) {
    const trace = await openRemote(packed, { threads });
    assert.equal(trace.length, alone.length);
    assert.equal(await trace.json("summary"), alone.summary);
    assert.deepEqual(await trace.diagnostics(), alone.diagnostics);
    trace.dispose();
  }
  for (const threads of [-1, 1.5, "2"]) {
    await assert.rejects(openRemote(packed, { threads }), { code: "bad_option" });
  }
});
