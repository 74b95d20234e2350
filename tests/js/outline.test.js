// Outlines: exact totals of a trace of which only windows are held, in this thread and behind a worker.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { KinetoscopeError, open, outline } from "kinetoscope";
import { outline as outlineRemote } from "kinetoscope/worker";
import { data, fixtures, kinetoscope } from "./files.js";

const path = `${data}/torch/kineto/transformer_training/trace.json.gz`;
const trace = JSON.parse(gunzipSync(readFileSync(path)));

/** The events of the trace again and again, 100 ms later each time: 24 MB. */
const events = Array.from({ length: 24 }, (_, turn) =>
  trace.traceEvents
    .filter((event) => turn === 0 || (event.ph === "X" && event.cat !== "Trace"))
    .map((event) => ({ ...event, ts: event.ts + turn * 1e5 })),
).flat();
const text = Buffer.from(JSON.stringify({ ...trace, traceEvents: events }, undefined, 1));

const folder = mkdtempSync(join(tmpdir(), "outline-"));
const file = join(folder, "long.json");
writeFileSync(file, text);
after(() => rmSync(folder, { recursive: true }));

/** Parts of the text: Node's Blob has a chunk for each. */
const parts = Array.from({ length: Math.ceil(text.length / 65536) }, (_, at) =>
  text.subarray(at * 65536, (at + 1) * 65536),
);

/** Counts the bytes that are read of a Blob. */
class Counted extends Blob {
  read = 0;
  slice(from) {
    const part = super.slice(from);
    const stream = part.stream.bind(part);
    part.stream = () => this.counting(stream());
    return part;
  }
  stream() {
    return this.counting(super.stream());
  }
  counting(stream) {
    const count = new TransformStream({ transform: (chunk, to) => ((this.read += chunk.length), to.enqueue(chunk)) });
    return stream.pipeThrough(count);
  }
}

const sources = {
  path: () => file,
  bytes: () => new Uint8Array(text),
  blob: () => new Blob([text]),
  gzip: () => new Blob([gzipSync(text)]),
  "gzip with two members": () =>
    new Blob([gzipSync(text.subarray(0, 10_000_000)), gzipSync(text.subarray(10_000_000))]),
};

const whole = await open(new Uint8Array(text));
after(() => whole.dispose());

/** The events of a trace that overlap a time, as JSON, without their ids and what is computed from other events. */
function overlapping(of, [from, to]) {
  const lines = [];
  for (let at = 0; at < of.length; at += 1) {
    const event = of.event(at);
    const start = Math.round(event.ts * 1000) - start0;
    const isMetadata = event.ph === "M";
    if (isMetadata || (start <= to && from <= start + Math.round((event.dur ?? 0) * 1000)))
      lines.push(JSON.stringify(event));
  }
  return lines;
}

const spans = whole.tracks().filter((track) => track.spans > 0);
const lengthNs = Math.max(...spans.map((track) => track.end_ns));
const first = events.find((event) => event.name === "PyTorch Profiler (0)" || event.cat === "Trace");
const start0 = Math.round(first.ts * 1000);

for (const [name, source] of Object.entries(sources)) {
  test(`the outline and a window of ${name}`, async () => {
    const found = await outline(source());
    assert.equal(found.length, whole.length);
    const [all] = found.rows();
    assert.equal(all.kind, "trace");
    assert.equal(all.events, whole.length);
    const { stdout } = await kinetoscope("outline", file, "--format", "json");
    assert.deepEqual(found.rows(), JSON.parse(stdout).rows);
    assert.deepEqual(JSON.parse(found.json()).rows, JSON.parse(stdout).rows);
    const window = [lengthNs * 0.4, lengthNs * 0.45];
    const part = await found.window(...window);
    assert.equal(part.startNs, whole.startNs);
    const expected = overlapping(whole, window);
    assert.ok(expected.length > 1000 && expected.length < whole.length / 4, `${expected.length}`);
    assert.deepEqual(overlapping(part, [-Infinity, Infinity]).sort(), expected.sort());
    part.dispose();
    found.dispose();
    assert.throws(() => found.rows(), { code: "disposed" });
  });
}

test("the window of all of the time is the complete trace, for every fixture", async () => {
  let checked = 0;
  for (const fixture of fixtures().filter((one) => statSync(one).size < 200_000)) {
    const found = await outline(fixture).catch((error) => error);
    if (found instanceof KinetoscopeError) {
      assert.ok(["unfit", "empty", "not_a_trace"].includes(found.code), `${fixture}: ${found}`);
      continue;
    }
    const complete = await open(fixture);
    const window = await found.window(-9e18, 9e18);
    assert.equal(found.length, complete.length, fixture);
    assert.equal(window.csv("events"), complete.csv("events"), fixture);
    assert.equal(window.json("summary"), complete.json("summary"), fixture);
    assert.deepEqual(window.diagnostics(), complete.diagnostics(), fixture);
    for (const held of [found, complete, window]) held.dispose();
    checked += 1;
  }
  assert.ok(checked > 100, `${checked} fixtures`);
});

test("a window reads a small part of a file that is not compressed", async () => {
  const blob = new Counted(parts);
  const found = await outline(blob);
  assert.equal(blob.read, text.length);
  blob.read = 0;
  const part = await found.window(lengthNs * 0.4, lengthNs * 0.45);
  assert.ok(part.length > 1000);
  assert.ok(blob.read < text.length / 2, `${blob.read} of ${text.length} bytes`);
  part.dispose();
  found.dispose();
});

test("densities are the mean numbers of events at a time", async () => {
  const found = await outline(file);
  const tracks = found.tracks();
  assert.equal(
    tracks.reduce((sum, track) => sum + track.events, 0),
    whole.length,
  );
  const [start, end] = found.time;
  for (const track of tracks.filter((one) => one.spans > 0)) {
    const own = spans.find((one) => one.kind === track.kind && one.pid === track.pid && one.tid === track.tid);
    assert.deepEqual([track.process, track.thread], [own.process, own.thread]);
    const means = found.density({ track: track.track, startNs: start, endNs: end, pixels: 1000 });
    const sum = means.reduce((all, mean) => all + mean, 0) * ((end - start) / 1000);
    const isOwn = (event) => event.ph === "X" && `${event.pid}` === track.pid && `${event.tid}` === track.tid;
    const expected = events.filter(isOwn).reduce((all, event) => all + event.dur * 1000, 0);
    assert.ok(Math.abs(sum / expected - 1) < 0.05, `${track.thread}: ${sum} ${expected}`);
    assert.ok(Math.max(...means) <= track.most_open * 1.01, `${track.most_open}`);
    // Between the turns nothing happens.
    const pause = found.density({ track: track.track, startNs: 50e6, endNs: 60e6, pixels: 10 });
    if (track.process !== "process Spans") assert.deepEqual([...pause], Array(10).fill(0));
  }
  const within = found.eventsWithin(100e6 - 1e6, 100e6 + 20e6);
  const once = trace.traceEvents.filter((event) => event.ph === "X").length;
  assert.ok(Math.abs(within - once) < once / 5, `${within} ${once}`);
  assert.throws(() => found.density({ track: 99, startNs: 0, endNs: 1, pixels: 1 }), { code: "bad_option" });
  found.dispose();
});

test("a worker holds the outline and its windows", async () => {
  let last;
  const found = await outlineRemote(file, { onProgress: (progress) => (last = progress) });
  assert.equal(last.events, whole.length);
  assert.deepEqual([last.totals[0].kind, last.totals[0].events], ["trace", whole.length]);
  const local = await outline(file);
  assert.deepEqual(await found.rows(), local.rows());
  assert.deepEqual(await found.tracks(), local.tracks());
  const drawn = { track: 1, startNs: 0, endNs: lengthNs, pixels: 500 };
  assert.deepEqual(await found.density(drawn), local.density(drawn));
  const counts = [];
  const one = await found.window(0, lengthNs / 10, { onProgress: (progress) => counts.push(progress.events) });
  const other = await local.window(0, lengthNs / 10);
  assert.equal(await one.csv("events"), other.csv("events"));
  assert.ok(counts.at(-1) >= one.length);
  const own = new Error("thrown by the caller");
  const throwing = { onProgress: () => assert.fail(own) };
  await assert.rejects(found.window(0, lengthNs, throwing), (error) => error === own);
  const controller = new AbortController();
  const aborted = found.window(0, lengthNs, { signal: controller.signal });
  controller.abort();
  await assert.rejects(aborted, (error) => error instanceof KinetoscopeError && error.code === "aborted");
  assert.equal((await found.rows()).length, local.rows().length);
  one.dispose();
  assert.equal((await found.rows(1)).length > 0, true);
  found.dispose();
  await assert.rejects(found.rows(), { code: "disposed" });
});

test("what cannot have an outline or a window is refused", async () => {
  const recording = readFileSync(`${data}/healthy/recording.ktrace`);
  await assert.rejects(outline(recording), { code: "unfit" });
  await assert.rejects(outline(new Uint8Array()), { code: "empty" });
  await assert.rejects(outline(file, { memoryLimit: 5 }), { code: "bad_option" });
  const once = await outline(new Response(text).body);
  assert.equal(once.length, whole.length);
  await assert.rejects(once.window(0, 1), { code: "bad_source" });
  once.dispose();
  const found = await outline(file);
  await assert.rejects(found.window(0, "1"), { code: "bad_option" });
  await assert.rejects(found.window(2000, 1000), { code: "bad_option" });
  assert.throws(() => found.eventsWithin(2000, 1000), { code: "bad_option" });
  await assert.rejects(found.window(0, 1, { torchVersion: "x" }), { code: "bad_option" });
  await assert.rejects(outline(file, { signal: AbortSignal.abort() }), { code: "aborted" });
  const few = await found.window(0, lengthNs, { memoryLimit: 1_000_000 });
  assert.ok(few.length < whole.length);
  assert.ok(few.diagnostics().some((one) => one.code === "memory_limit"));
  few.dispose();
  found.dispose();
});
