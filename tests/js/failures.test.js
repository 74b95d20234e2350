// An engine that fails gives a clear error, returns its memory, and is replaced. Keys that JavaScript gives a meaning are data.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { KinetoscopeError, init, memoryBytes, open } from "kinetoscope/init";

const PAGE = 65_536;
const MEMORY_SECTION = 5;

/** Returns a module whose memory has at most `pages` pages. */
function withMemory(code, pages) {
  const number = (at) => {
    let value = 0;
    for (let shift = 0; ; shift += 7, at += 1) {
      value |= (code[at] & 127) << shift;
      if (code[at] < 128) return [value, at + 1];
    }
  };
  const bytes = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...bytes(value >>> 7)]);
  for (let at = 8; at < code.length;) {
    const [length, begin] = number(at + 1);
    if (code[at] !== MEMORY_SECTION) {
      at = begin + length;
      continue;
    }
    const [least] = number(begin + 2);
    const section = [1, 1, ...bytes(least), ...bytes(pages)];
    return Buffer.concat([
      code.subarray(0, at),
      Buffer.from([MEMORY_SECTION, section.length, ...section]),
      code.subarray(begin + length),
    ]);
  }
  throw new Error("the module has no memory");
}

/** Yields a trace of so many spans with different names. */
async function* spans(count) {
  yield Buffer.from('{"traceEvents": [');
  for (let at = 0; at < count; at += 1000) {
    const event = (_, i) =>
      `{"ph":"X","name":"span ${at + i}","ts":${at + i},"dur":1,"pid":1,"tid":1}${at + i + 1 < count ? "," : ""}`;
    yield Buffer.from(Array.from({ length: 1000 }, event).join("\n"));
  }
  yield Buffer.from("]}");
}

const code = await readFile(fileURLToPath(import.meta.resolve("kinetoscope/kinetoscope.wasm")));
await init(withMemory(code, 512));

test("an engine without memory is replaced", async () => {
  const [before, other] = [await open(spans(1000)), await open(spans(2000))];
  await assert.rejects(open(spans(1_000_000)), (error) => {
    assert.ok(error instanceof KinetoscopeError);
    assert.equal(error.code, "internal");
    assert.match(error.message, /^the engine failed: /);
    return true;
  });
  assert.ok(memoryBytes() < 64 * PAGE, `${memoryBytes()}`);
  const after = await open(spans(3000));
  for (const lost of [before, other]) {
    assert.throws(() => lost.ops(), { code: "internal", message: /open it again/ });
    assert.throws(() => lost.export("chrome"), { code: "internal" });
    lost.dispose();
    assert.throws(() => lost.ops(), { code: "disposed" });
  }
  assert.equal(after.rows("names").length, 3000);
  assert.equal(after.length, 3000);
  after.dispose();
});

test("what reads while the engine fails ends with an error", async () => {
  const slow = async function* () {
    for await (const piece of spans(20_000)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield piece;
    }
  };
  const reading = open(slow());
  const refused = assert.rejects(reading, { code: "internal", message: /open it again/ });
  await assert.rejects(open(spans(1_000_000)), { code: "internal" });
  await refused;
  const trace = await open(spans(1000));
  assert.equal(trace.length, 1000);
  trace.dispose();
});

test("an answer that runs out of memory fails, and so does an export that has begun", async () => {
  for (let round = 0; round < 3; round += 1) {
    const trace = await open(spans(90_000));
    const writing = trace.export("chrome").getReader();
    assert.throws(() => trace.rows("tree"), { code: "internal", message: /^the engine failed: / });
    await assert.rejects(writing.closed, { code: "internal", message: /open it again/ });
    trace.dispose();
  }
});

test("keys that JavaScript gives a meaning are data", async () => {
  const text = `[{"ph":"X","name":"__proto__","ts":1,"dur":1,"pid":1,"tid":1,"args":{"__proto__":{"polluted":1},"constructor":2}},
    {"ph":"C","name":"toString","ts":1,"pid":1,"tid":1,"args":{"__proto__":3,"hasOwnProperty":4}}]`;
  const trace = await open(new TextEncoder().encode(text));
  const { args } = trace.event(0);
  assert.deepEqual(Object.entries(args).sort(), [
    ["__proto__", { polluted: 1 }],
    ["constructor", 2],
  ]);
  assert.equal(Object.getPrototypeOf(args), Object.prototype);
  assert.equal({}.polluted, undefined);
  assert.deepEqual(
    trace.rows("names").map(({ name }) => name),
    ["__proto__"],
  );
  assert.equal(trace.rows("counters").length, 2);
  for (const call of [
    () => trace.ops(JSON.parse('{"__proto__": {"sortBy": "beauty"}}')),
    () => trace.ops(JSON.parse('{"constructor": 1}')),
    () => trace.rows("__proto__"),
    () => trace.rows("constructor"),
    () => trace.export("toString"),
    () => trace.table("__proto__"),
    () => trace.table("hasOwnProperty"),
  ]) {
    assert.throws(call, (error) => error instanceof KinetoscopeError && error.code === "bad_option", `${call}`);
  }
  trace.dispose();
});
