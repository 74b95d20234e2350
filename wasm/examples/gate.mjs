// A gate for CI: checks budgets of traces, and for how long the ranks of a run waited for a late one.
//
// node gate.mjs BUDGET.json TRACE... [--base TRACE]... [--max-late-ms N] [--summary FILE] [--junit FILE]
//
// The budgets are those of `kinetoscope check`, as JSON. --summary appends Markdown, such as to $GITHUB_STEP_SUMMARY.
//
// Exit codes: 0 all limits hold · 1 a limit does not hold · 2 the traces or the arguments cannot be read · 3 a limit cannot be
// decided.

import { appendFile, readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { KinetoscopeError, check, openRun } from "kinetoscope";

/** The notes about a run that is complete nevertheless. */
const HARMLESS = new Set(["skipped", "assumed_rank", "missing_calls", "skewed_start"]);

const MARKS = { pass: "✓", breach: "✗", unfit: "?" };

const CODES = { pass: 0, breach: 1, unfit: 3 };

function usage(message) {
  console.error(`gate: ${message}`);
  process.exit(2);
}

function parseArguments() {
  const text = { type: "string" };
  const options = { base: { ...text, multiple: true }, "max-late-ms": text, summary: text, junit: text };
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return usage(error.message);
  }
}

async function readBudgets(path) {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    return usage(`${path}: ${error.message}`);
  }
}

/** Returns what a late rank cost, if that is more than the limit. */
async function late(traces, limit) {
  const run = await openRun(traces);
  const lack = run.notes.find(({ code }) => !HARMLESS.has(code));
  if (lack) usage(lack.message);
  const [{ matched }] = run.ranks({ kinds: ["run"] });
  if (matched === 0) return "no collectives that several ranks have";
  const found = run.ranks({ kinds: ["straggler"] }).find(({ cost_ns }) => cost_ns / 1e6 > limit);
  if (!found) return undefined;
  const { rank, phase, cost_ns } = found;
  return `others waited ${(cost_ns / 1e6).toFixed(3)} ms for rank ${rank}, late in ${phase}, more than ${limit} ms`;
}

const { values, positionals } = parseArguments();
const [path, ...traces] = positionals;
if (traces.length === 0) usage("expected a file of budgets and traces");
const maxLate = values["max-late-ms"] && Number(values["max-late-ms"]);
if (Number.isNaN(maxLate)) usage("--max-late-ms must be a number");
const budgets = await readBudgets(path);

try {
  const { outcome, rows, markdown, junit } = await check(traces, budgets, { base: values.base ?? [] });
  for (const row of rows) {
    const about = traces.length > 1 ? `${row.trace}: ` : "";
    console.log(`${MARKS[row.outcome]} ${about}${row.metric}${row.name && ` ${row.name}`}: ${row.message}`);
  }
  const message = maxLate === undefined ? undefined : await late(traces, maxLate);
  if (message) console.log(`✗ ${message}`);
  if (values.summary) await appendFile(values.summary, `${markdown}\n`);
  if (values.junit) await writeFile(values.junit, junit);
  process.exitCode = message ? 1 : CODES[outcome];
} catch (error) {
  if (error instanceof KinetoscopeError) usage(error.message);
  throw error;
}
