// Sources: what is read of each, what is refused, and how a signal ends one that does not go on.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { gunzipSync } from "node:zlib";
import { merge, open, outline, repair, trend } from "kinetoscope";
import { open as openInline } from "kinetoscope/inline";
import * as worker from "kinetoscope/worker";
import { data } from "./files.js";

const path = `${data}/torch/kineto/transformer_training/trace.json.gz`;
const packed = new Uint8Array(readFileSync(path));
const text = gunzipSync(packed);

const OPENS = { open, openInline, openRemote: worker.open };

async function* inParts(bytes) {
  for (let at = 0; at < bytes.length; at += 10_000) yield bytes.subarray(at, at + 10_000);
}

const fromOtherRealm = (code) => runInNewContext(code, { bytes: [...packed] });

const READ = {
  "a stream of Node": () => createReadStream(path),
  "a stream of Node from parts": () => Readable.from(inParts(packed)),
  "an async generator": () => inParts(text),
  "an ArrayBuffer": () => packed.slice().buffer,
  "a DataView": () => new DataView(Uint8Array.from([0, ...packed]).buffer, 1),
  "an Int8Array": () => new Int8Array(packed.slice().buffer),
  "shared memory": () => {
    const shared = new Uint8Array(new SharedArrayBuffer(packed.length));
    shared.set(packed);
    return shared;
  },
  "an ArrayBuffer of another realm": () => fromOtherRealm("new Uint8Array(bytes).buffer"),
  "a view of another realm": () => fromOtherRealm("new Uint8Array(bytes)"),
  "an iterable of another realm": () =>
    fromOtherRealm("(async function* () { yield new Uint8Array(bytes).buffer; })()"),
};

for (const [name, source] of Object.entries(READ)) {
  test(`${name} is read`, async () => {
    for (const [how, open] of Object.entries(OPENS)) {
      const trace = await open(source());
      assert.equal(trace.length, 2576, how);
      trace.dispose();
    }
  });
}

test("a pipe is read once, and its end is not its size", async () => {
  const folder = mkdtempSync(`${tmpdir()}/pipe-`);
  const pipe = `${folder}/pipe`;
  execFileSync("mkfifo", [pipe]);
  const progress = [];
  // Of two members, the platform decompresses only the first, so the bytes are needed twice.
  Readable.from([packed, Uint8Array.from([1, 2, 3])]).pipe(createWriteStream(pipe));
  const trace = await open(pipe, { onProgress: ({ totalBytes }) => progress.push(totalBytes) });
  assert.deepEqual([trace.length, progress.at(-1)], [2576, undefined]);
  rmSync(folder, { recursive: true });
});

test("standard input is read", async () => {
  const script = `
    import { open } from "kinetoscope";
    const trace = await open(process.stdin);
    console.log(trace.length);
  `;
  const here = new URL(".", import.meta.url);
  const child = spawn("node", ["--input-type=module", "-e", script], { cwd: here, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(packed);
  assert.equal(String(await child.stdout.toArray()), "2576\n");
});

/** A server that counts its requests, as one inside of a network that others cannot reach. */
async function counting(t) {
  const requested = [];
  const server = createServer((request, response) => {
    requested.push(request.method);
    response.end(packed);
  });
  server.listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  return { address: `http://127.0.0.1:${server.address().port}/trace.json.gz`, requested };
}

test("a request that carries something is refused, and its address is not fetched", async (t) => {
  const { address, requested } = await counting(t);
  for (const open of Object.values(OPENS)) {
    for (const options of [{ method: "POST", body: packed }, { method: "POST" }, { method: "PUT", body: "[]" }]) {
      const request = new Request(address, options);
      const message = new RegExp(
        `^cannot read a trace from a Request with the method ${options.method}: pass its body`,
      );
      await assert.rejects(open(request), { code: "bad_source", message });
    }
    const body = new Request(address, { method: "POST", body: packed }).body;
    (await open(body)).dispose();
  }
  assert.deepEqual(requested, []);
  (await open(new Request(address))).dispose();
  assert.deepEqual(requested, ["GET"]);
});

test("what cannot be read is refused by name", async () => {
  for (const open of Object.values(OPENS)) {
    await assert.rejects(open({ length: 3 }), { code: "bad_source", message: /an object of type Object/ });
    await assert.rejects(open(Readable.from(["text"])), { code: "bad_source", message: /chunks that are not bytes/ });
  }
  for (const source of [inParts(packed), createReadStream(path), new Response(packed)]) {
    for (const merged of [merge, worker.merge]) {
      await assert.rejects(merged([source]), { code: "bad_source", message: /can be read only once$/ });
    }
  }
});

const reason = new Error("enough");

/** Sources that begin and do not go on, and the reason with which they were cancelled. */
const STALLED = {
  "a stream": (cancelled) =>
    new ReadableStream({ start: (out) => out.enqueue(text.subarray(0, 5000)), cancel: cancelled }),
  "a stream of gzip": (cancelled) =>
    new ReadableStream({ start: (out) => out.enqueue(packed.subarray(0, 5000)), cancel: cancelled }),
  "a stream that does not begin": (cancelled) => new ReadableStream({ cancel: cancelled }),
  "a response": (cancelled) => new Response(new ReadableStream({ cancel: cancelled })),
  "a stream of Node": (cancelled) =>
    new Readable({ read: () => undefined, destroy: (error, done) => (cancelled(error), done(error)) }),
};

for (const [name, source] of Object.entries(STALLED)) {
  test(`a signal ends ${name}`, { timeout: 20_000 }, async () => {
    const pool = worker.createPool({ workers: 1 });
    const uses = {
      ...OPENS,
      trend,
      outline,
      outlineRemote: worker.outline,
      trendRemote: worker.trend,
      inPool: pool.open,
    };
    for (const [how, use] of Object.entries(uses)) {
      const controller = new AbortController();
      setTimeout(() => controller.abort(reason), 50);
      let cancelled;
      const cancelling = new Promise((resolve) => (cancelled = resolve));
      const failure = await use(source(cancelled), { signal: controller.signal }).catch((error) => error);
      assert.deepEqual([failure.code, failure.name, failure.reason], ["aborted", "AbortError", reason], how);
      assert.equal(await cancelling, reason, how);
    }
    assert.equal((await pool.open(packed)).length, 2576, "the worker of a pool goes on");
    pool.dispose();
  });
}

test("a signal ends a repair", async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 50);
  for (const one of [repair, worker.repair]) {
    const stream = await one(new ReadableStream(), { signal: controller.signal }).catch((error) => error);
    const failure = stream.code ? stream : await new Response(stream).text().catch((error) => error);
    assert.equal(failure.code, "aborted");
  }
});

test("a signal ends a response that stalls", async (t) => {
  const server = createServer((_, response) => void response.write(packed.subarray(0, 5000)));
  server.listen(0, "127.0.0.1");
  t.after(() => (server.close(), server.closeAllConnections()));
  await once(server, "listening");
  const address = `http://127.0.0.1:${server.address().port}/trace.json.gz`;
  for (const source of [async () => address, () => fetch(address), async () => new Request(address)]) {
    for (const [how, open] of Object.entries(OPENS)) {
      const signal = AbortSignal.timeout(100);
      await assert.rejects(open(await source(), { signal }), { code: "aborted" }, how);
    }
  }
});
