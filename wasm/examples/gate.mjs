// A gate for CI: fails if a number of a trace, or of a run of several ranks, exceeds a limit.
//
// node gate.mjs TRACE... [--max-mean-step-ms N] [--min-gpu-busy PERCENT] [--max-launches-per-step N] [--max-late-ms N]
//
// Exit codes: 0 within the limits · 1 over a limit · 2 the traces or the arguments cannot be read.

import { parseArgs } from "node:util";
import { KinetoscopeError, open, openRun } from "kinetoscope";

const TRACE_CHECKS = {
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
    return (
      low && `device ${low.device} is busy ${((100 * low.busy_ns) / low.window_ns).toFixed(1)} %, less than ${limit} %`
    );
  },
  "max-launches-per-step": (trace, limit) => {
    const step = trace.steps().find(({ launched }) => launched > limit);
    return step && `${step.name} launched ${step.launched} kernels, more than ${limit}`;
  },
};

const RUN_CHECKS = {
  "max-late-ms": (run, limit) => {
    const [{ matched }] = run.ranks({ kinds: ["run"] });
    if (matched === 0) return "no collectives that several ranks have";
    const late = run.ranks({ kinds: ["straggler"] }).find(({ cost_ns }) => cost_ns / 1e6 > limit);
    return (
      late &&
      `others waited ${(late.cost_ns / 1e6).toFixed(3)} ms for rank ${late.rank}, late in ${late.phase}, more than ${limit} ms`
    );
  },
};

/** The notes about a run that is complete nevertheless. */
const HARMLESS = new Set(["skipped", "assumed_rank", "missing_calls", "skewed_start"]);

function usage(message) {
  console.error(`gate: ${message}`);
  process.exit(2);
}

function parseArguments() {
  const names = Object.keys({ ...TRACE_CHECKS, ...RUN_CHECKS });
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return usage(error.message);
  }
}

const { values, positionals } = parseArguments();
const limits = Object.entries(values).map(([name, text]) => [name, Number(text)]);
if (positionals.length === 0 || limits.length === 0) usage("expected traces and at least one limit");
if (limits.some(([, limit]) => Number.isNaN(limit))) usage("a limit must be a number");

/** The messages about the limits that are in a table of checks. */
const exceeded = (checks, subject) =>
  limits.flatMap(([name, limit]) => (name in checks && checks[name](subject, limit)) || []);

async function messagesOfTraces() {
  const messages = [];
  if (!limits.some(([name]) => name in TRACE_CHECKS)) return messages;
  for (const path of positionals) {
    const trace = await open(path);
    const about = positionals.length > 1 ? `${trace.name}: ` : "";
    messages.push(...exceeded(TRACE_CHECKS, trace).map((message) => about + message));
    trace.dispose();
  }
  return messages;
}

async function messagesOfRun() {
  if (!limits.some(([name]) => name in RUN_CHECKS)) return [];
  const run = await openRun(positionals);
  const lack = run.notes.find(({ code }) => !HARMLESS.has(code));
  if (lack) usage(lack.message);
  return exceeded(RUN_CHECKS, run);
}

try {
  const messages = [...(await messagesOfTraces()), ...(await messagesOfRun())];
  for (const message of messages) console.log(`✗ ${message}`);
  if (messages.length === 0) console.log(`✓ ${positionals.join(", ")}: within ${limits.length} limits`);
  process.exitCode = messages.length > 0 ? 1 : 0;
} catch (error) {
  if (error instanceof KinetoscopeError) usage(error.message);
  throw error;
}
