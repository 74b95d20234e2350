// The memory of the engine grows in large steps: at each step, V8 may collect all garbage.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

/** Opens a trace with many events in a process of its own, and prints how often V8 collects all garbage during the first large answer. */
const SCRIPT = `
  import { PerformanceObserver, constants } from "node:perf_hooks";
  import { open } from "kinetoscope";
  const event = (at) => JSON.stringify({ ph: "X", cat: "cpu_op", name: "op" + (at % 300), pid: 1, tid: 1, ts: at, dur: 1 });
  const trace = await open(new Blob(["[", Array.from({ length: 100_000 }, (_, at) => event(at)).join(",\\n"), "]"]));
  let collections = 0;
  new PerformanceObserver((list) => {
    collections += list.getEntries().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR).length;
  }).observe({ entryTypes: ["gc"] });
  trace.csv("events");
  await new Promise((resolve) => setTimeout(resolve, 100));
  console.log(collections);
`;

test("the first large answer collects garbage a few times", () => {
  const here = new URL(".", import.meta.url);
  const printed = execFileSync("node", ["--input-type=module", "-e", SCRIPT], { cwd: here, encoding: "utf8" });
  // In steps of 64 KB it is more than a hundred times.
  assert.ok(Number(printed) < 50, `${printed} collections`);
});
