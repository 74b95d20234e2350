// Inference engines: names of iterations, and captures of graphs, in the same thread and with a worker.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { open } from "kinetoscope";
import * as worker from "kinetoscope/worker";
import { data } from "./files.js";

const example = (name) => new Uint8Array(readFileSync(`${data}/../../docs/traces/${name}`));
const trace = () => example("serving.json.gz");
const capture = () => example("serving-capture.json.gz");

const ranges = JSON.stringify(
  [0, 1, 2].map((at) => ({
    ph: "X",
    cat: "user_annotation",
    name: `turn ${at} of 8`,
    pid: 1,
    tid: 1,
    ts: at * 100,
    dur: 50,
  })),
);
const named = () => new TextEncoder().encode(ranges);

const inductor = (name) => new Uint8Array(readFileSync(`${data}/inductor/${name}`));

for (const [name, from] of Object.entries({ open, "worker.open": worker.open })) {
  test(`${name}: captures show the operators of replayed graphs`, async () => {
    const products = async (options) => {
      const opened = await from(trace(), options);
      const rows = await opened.kernels({ by: "operator" });
      opened.free?.();
      return rows.find((row) => row.name === "aten::mm").count;
    };
    assert.equal(await products(), 48);
    assert.equal(await products({ captures: [capture()] }), 48 + 18 * 16);
    assert.equal(await products({ captures: [trace(), capture()] }), 48 + 18 * 16);
    await assert.rejects(products({ captures: [trace()] }), { code: "bad_option" });
    await assert.rejects(products({ captures: capture() }), { code: "bad_option" });
  });

  test(`${name}: rules and expressions name iterations`, async () => {
    const iterations = async (options) => {
      const opened = await from(named(), options);
      const rows = await opened.serving();
      opened.free?.();
      return rows.filter((row) => row.kind === "iteration").map(({ phase, step, batch }) => [phase, step, batch]);
    };
    assert.deepEqual(await iterations(), []);
    const rules = { stepRules: "decode,turn {number} of {batch}" };
    assert.deepEqual(
      await iterations(rules),
      [0, 1, 2].map((step) => ["decode", step, 8]),
    );
    const expression = { stepsFrom: /^TURN (?<number>\d+) of (?<batch>\d+)$/gi };
    assert.deepEqual(
      await iterations(expression),
      [0, 1, 2].map((step) => ["step", step, 8]),
    );
    await assert.rejects(iterations({ stepsFrom: /absent/ }), { code: "bad_option" });
    await assert.rejects(iterations({ stepsFrom: "turn" }), { code: "bad_option" });
    await assert.rejects(iterations({ stepRules: "decode" }), { code: "bad_option" });
  });

  test(`${name}: files of torch.compile show where kernels come from`, async () => {
    const sources = async (options) => {
      const opened = await from(inductor("c/trace.json.gz"), options);
      const rows = await opened.compiled();
      opened.free?.();
      return rows.filter((row) => row.kind === "kernel").map(({ source }) => source);
    };
    assert.deepEqual(new Set(await sources()), new Set([null]));
    const known = await sources({ provenance: [inductor("c/torch_trace.log.gz")] });
    assert.deepEqual([known.length, new Set(known)], [5, new Set(["case_c.py:11", "case_c.py:13"])]);
    const other = { provenance: [inductor("d/kernel_information.json")] };
    await assert.rejects(sources(other), { code: "bad_option" });
    await assert.rejects(sources({ provenance: inductor("c/torch_trace.log.gz") }), { code: "bad_option" });
  });
}
