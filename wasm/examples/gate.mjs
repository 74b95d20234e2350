// A gate for CI: fails if a number of a trace exceeds a limit.
//
// node gate.mjs TRACE [--max-mean-step-ms N] [--min-gpu-busy PERCENT] [--max-launches-per-step N]
//
// Exit codes: 0 within the limits · 1 over a limit · 2 the trace or the arguments cannot be read.

import { parseArgs } from "node:util";
import { KinetoscopeError, open } from "kinetoscope";

const CHECKS = {
  "max-mean-step-ms": (trace, limit) => {
    const { mean_step_ns } = trace.summary();
    if (mean_step_ns === null) return "no steps in the trace";
    const mean = mean_step_ns / 1e6;
    return mean > limit && `a step takes ${mean.toFixed(3)} ms on average, more than ${limit} ms`;
  },
  "min-gpu-busy": (trace, limit) => {
    const { devices } = trace.summary();
    if (devices.length === 0) return "no GPU work in the trace";
    const low = devices.find(({ busy_ns, window_ns }) => (100 * busy_ns) / window_ns < limit);
    return low && `device ${low.device} is busy ${((100 * low.busy_ns) / low.window_ns).toFixed(1)} %, less than ${limit} %`;
  },
  "max-launches-per-step": (trace, limit) => {
    const step = trace.steps().find(({ launched }) => launched > limit);
    return step && `${step.name} launched ${step.launched} kernels, more than ${limit}`;
  },
};

function usage(message) {
  console.error(`gate: ${message}`);
  process.exit(2);
}

function parseArguments() {
  const options = Object.fromEntries(Object.keys(CHECKS).map((name) => [name, { type: "string" }]));
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return usage(error.message);
  }
}

const { values, positionals } = parseArguments();
const limits = Object.entries(values).map(([name, text]) => [name, Number(text)]);
if (positionals.length !== 1 || limits.length === 0) usage("expected one trace and at least one limit");
if (limits.some(([, limit]) => Number.isNaN(limit))) usage("a limit must be a number");

try {
  const trace = await open(positionals[0]);
  const exceeded = limits.map(([name, limit]) => CHECKS[name](trace, limit)).filter(Boolean);
  for (const message of exceeded) console.log(`✗ ${message}`);
  if (exceeded.length === 0) console.log(`✓ ${trace.name} is within ${limits.length} limits`);
  process.exitCode = exceeded.length > 0 ? 1 : 0;
} catch (error) {
  if (error instanceof KinetoscopeError) usage(error.message);
  throw error;
}
