// Values that JavaScript's numbers or JSON do not have.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, openRun } from "kinetoscope";
import * as worker from "kinetoscope/worker";
import { data } from "./files.js";

const ARGS = `{
  "above": 9007199254740993, "unsigned": 18446744073709551615, "least": -9223372036854775808, "safe": 9007199254740991,
  "text": "12345678901234567890", "quote": "\\"9007199254740993", "list": [9007199254740993, 1], "fraction": 1234567890123456.5, "digits": 0.30000000000000004, "power": 1.2345678901234567e-20
}`;
const TRACE = Buffer.from(`[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":${ARGS}}]`);

test("an event keeps the digits of its integers", async () => {
  for (const one of [await open(TRACE), await worker.open(TRACE)]) {
    const event = await one.event(0);
    assert.deepEqual(event.args, {
      above: "9007199254740993",
      unsigned: "18446744073709551615",
      least: "-9223372036854775808",
      safe: 9007199254740991,
      text: "12345678901234567890",
      quote: '"9007199254740993',
      list: ["9007199254740993", 1],
      fraction: 1234567890123456.5,
      digits: 0.30000000000000004,
      power: 1.2345678901234567e-20,
    });
    assert.deepEqual([event.ts, event.pid], [1, 1]);
    assert.equal(typeof JSON.stringify(event), "string");
    one.dispose();
  }
});

test("rows are JSON, and times keep their digits", async () => {
  const path = `${data}/runs/plain/rank0.json.gz`;
  for (const [opened, run] of [
    [await open(path), await openRun([path])],
    [await worker.open(path), await worker.openRun([path])],
  ]) {
    const info = await opened.info();
    assert.equal(BigInt(info.start_ns), opened.startNs);
    assert.ok(opened.startNs > 2n ** 53n);
    assert.equal(JSON.parse(JSON.stringify(info)).start_ns, String(opened.startNs));
    assert.deepEqual((await opened.columns("info")).columns.start_ns, [info.start_ns]);
    const rows = await run.ranks();
    assert.deepEqual(JSON.parse(JSON.stringify(rows)), rows);
    assert.match(rows.find(({ kind }) => kind === "clock").at_ns, /^\d{19}$/);
    opened.dispose();
    run.dispose();
  }
});
