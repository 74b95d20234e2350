// Answers as streams, and parts of answers: the same bytes and rows as those of the complete answer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { QUERIES, memoryBytes, open } from "kinetoscope";
import { open as openRemote } from "kinetoscope/worker";
import { data } from "./files.js";

const paths = [`${data}/torch/cuda/mlp/trace.json.gz`, `${data}/torch/kineto/transformer_training/trace.json.gz`];
const queries = Object.keys(QUERIES);
const textOf = (stream) => new Response(stream).text();

test("a stream has the bytes of the answer", async () => {
  for (const path of paths) {
    const [here, there] = [await open(path), await openRemote(path)];
    for (const query of queries) {
      assert.ok((await textOf(here.stream(query))) === here.json(query), query);
      assert.ok((await textOf(here.stream(query, { format: "csv" }))) === here.csv(query), query);
      assert.ok((await textOf(there.stream(query))) === here.json(query), query);
    }
    const options = { groupBy: ["shape"], rowLimit: 7, offset: 2 };
    assert.equal(await textOf(there.stream("ops", { ...options, format: "csv" })), here.csv("ops", options));
    here.dispose();
    there.dispose();
  }
});

test("a stream comes in pieces, also after its trace was disposed of, and can be cancelled", async () => {
  const trace = await open(paths[1]);
  const expected = trace.json("events");
  const [whole, part] = [trace.stream("events"), trace.stream("events")];
  trace.dispose();
  const pieces = [];
  for await (const piece of whole) pieces.push(piece);
  assert.ok(pieces.length > 1, `${pieces.length} pieces`);
  assert.ok(Buffer.concat(pieces).toString() === expected);
  await part.cancel();
  const before = memoryBytes();
  for (let n = 0; n < 20; n++) {
    const again = await open(paths[1]);
    await again.stream("events").cancel();
    again.dispose();
  }
  assert.equal(memoryBytes(), before);
});

test("the rows after an offset are those of the complete answer", async () => {
  for (const path of paths) {
    const [here, there] = [await open(path), await openRemote(path)];
    for (const query of queries) {
      const all = here.rows(query);
      for (const [offset, rowLimit] of [
        [0, 2],
        [1, 2],
        [3, undefined],
        [2, -1],
        [2, 0],
        [1e6, 5],
      ]) {
        const end = rowLimit === undefined || rowLimit < 0 ? Infinity : offset + rowLimit;
        const expected = all.slice(offset, end);
        try {
          assert.deepEqual(here.rows(query, { offset, rowLimit }), expected, `${query} ${offset} ${rowLimit}`);
          assert.deepEqual(await there.rows(query, { offset, rowLimit }), expected);
          assert.equal(here.columns(query, { offset, rowLimit }).length, expected.length);
          assert.deepEqual(JSON.parse(here.json(query, { offset, rowLimit })).rows.length, expected.length);
        } catch (error) {
          if (!/unknown option rowLimit|has no row limit/.test(error.message)) throw error;
        }
      }
    }
    assert.deepEqual(here.ops({ offset: 2, rowLimit: 1 }), here.ops().slice(2, 3));
    here.dispose();
    there.dispose();
  }
});

test("wrong formats and offsets are refused", async () => {
  const [here, there] = [await open(paths[0]), await openRemote(paths[0])];
  for (const call of [
    () => here.stream("ops", { format: "xml" }),
    () => here.stream("ops", { format: 5 }),
    () => here.stream("horoscope"),
    () => here.stream("ops", { colour: "red" }),
    () => here.ops({ offset: -1 }),
    () => here.ops({ offset: Number.NaN }),
    () => here.ops({ offset: "2" }),
    () => here.info({ offset: 1 }),
    () => here.table("ops", { offset: 1 }),
  ]) {
    assert.throws(call, { code: "bad_option" }, String(call));
  }
  await assert.rejects(textOf(there.stream("ops", { format: "xml" })), { code: "bad_option" });
  here.dispose();
  assert.throws(() => here.stream("ops"), { code: "disposed" });
  there.dispose();
});
