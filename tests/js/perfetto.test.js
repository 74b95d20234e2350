// Exports traces for Perfetto and imports them with its trace processor: it must report no error and have every slice.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { corpus, fixtures, kinetoscope } from "./files.js";
import { traceProcessor } from "./perfetto.js";

/** Traces whose export has more bytes than this take too long. */
const LARGEST = 40 << 20;

const folder = mkdtempSync(join(tmpdir(), "perfetto-"));
after(() => {
  rmSync(folder, { recursive: true });
  processor.close();
});

const processor = await traceProcessor(process.env.PERFETTO);

/** A time in µs as ns. Times are written with three decimals. */
const ns = (time) => Math.round(time * 1000);

const isNumber = (value) => value !== "" && value !== null && typeof value !== "boolean" && isFinite(Number(value));

/** Counts what Perfetto has to draw of the events of a Chrome trace. */
function expected(events) {
  const timed = events.filter((event) => event.ts !== undefined && event.ts !== null);
  const count = (phases) => timed.filter(({ ph }) => phases.includes(ph)).length;
  const complete = timed.filter(({ ph }) => ph === "X");
  const onlyComplete = count(["B", "b", "S"]) === 0;
  return {
    slices: count(["X", "B", "b", "S", "i", "I", "R", "n"]),
    // The lengths of other spans follow from pairing.
    length: onlyComplete ? complete.reduce((sum, { dur }) => sum + ns(dur), 0) : undefined,
    counters: timed
      .filter(({ ph }) => ph === "C")
      .reduce((sum, { args }) => sum + Object.values(args ?? {}).filter(isNumber).length, 0),
    flowEnds: count(["t", "f"]),
  };
}

/** What Perfetto has imported. */
async function imported(bytes) {
  await processor.open(bytes);
  const [found] = await processor.query(`select
    (select count(*) from slice) as slices,
    (select ifnull(sum(dur), 0) from slice) as length,
    (select count(*) from counter) as counters,
    (select count(*) from flow) as flows,
    (select count(*) from slice where dur < 0) as open`);
  const numbers = Object.entries(found).map(([name, value]) => [name, Number(value)]);
  const problems = await processor.query(
    "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
  );
  return { ...Object.fromEntries(numbers), problems: problems.map(({ name, value }) => `${name} ${value}`) };
}

async function check(path) {
  const written = join(folder, "trace.pftrace");
  const { code, stderr } = await kinetoscope("export", "pftrace", path, "-o", written);
  if (/this is not a trace|have no times/.test(stderr)) return false;
  assert.equal(code, 0, `${path}: ${stderr}`);
  if (statSync(written).size > LARGEST) return false;
  const chrome = join(folder, "trace.json");
  await kinetoscope("export", "chrome", path, "-o", chrome);
  const document = JSON.parse(readFileSync(chrome, "utf8"));
  const events = expected(Array.isArray(document) ? document : document.traceEvents);
  const found = await imported(new Uint8Array(readFileSync(written)));
  assert.deepEqual(found.problems, [], path);
  assert.equal(found.slices, events.slices, `${path}: slices`);
  assert.equal(found.counters, events.counters, `${path}: counters`);
  assert.equal(found.open, 0, `${path}: slices without an end`);
  assert.ok(found.flows <= events.flowEnds, `${path}: flows`);
  if (events.length !== undefined) assert.equal(found.length, events.length, `${path}: the sum of all lengths`);
  return found;
}

async function checkAll(paths) {
  const sum = { traces: 0, slices: 0, flows: 0, counters: 0 };
  for (const path of paths) {
    const found = await check(path);
    if (!found) continue;
    sum.traces += 1;
    for (const what of ["slices", "flows", "counters"]) sum[what] += found[what];
  }
  console.log(`# ${JSON.stringify(sum)}`);
  return sum;
}

// Every tenth trace of PyTorch's goldens, whatever the number of other fixtures.
const all = fixtures().filter((path) => !/\/(refused|fuzz)\//.test(path));
const [goldens, others] = [true, false].map((is) => all.filter((path) => path.includes("/torch/") === is));
const own = [...others, ...goldens.filter((_, at) => at % 10 === 0)];

test("Perfetto imports fixtures without errors", async () => {
  const sum = await checkAll(own);
  assert.ok(sum.traces > 80 && sum.slices > 2_000 && sum.flows > 50 && sum.counters > 10, JSON.stringify(sum));
});

const real = corpus();
test(
  "Perfetto imports real traces without errors",
  { skip: real.length === 0 && "there is no ../shared/traces" },
  async () => {
    const sum = await checkAll(real);
    assert.ok(sum.traces > 100 && sum.flows > 10_000, JSON.stringify(sum));
  },
);
