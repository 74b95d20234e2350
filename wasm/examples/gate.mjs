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
const HARMLESS = new Set([
  "skipped",
  "assumed_rank",
  "missing_calls",
  "skewed_start",
  "distant_clock",
  "arrives_last",
  "lateness_unknown",
]);

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

/** Returns the outcome of the limit on what a late rank costs, and why. */
async function late(traces, limit) {
  const run = await openRun(traces);
  const lack = run.notes.find(({ code }) => !HARMLESS.has(code));
  if (lack) usage(lack.message);
  const [{ matched }] = run.ranks({ kinds: ["run"] });
  if (matched === 0) return { outcome: "unfit", message: "the traces have no collectives of several ranks" };
  const found = run.ranks({ kinds: ["straggler"] }).find(({ cost_ns }) => cost_ns / 1e6 > limit);
  if (!found) return { outcome: "pass", message: `no rank was waited for more than ${limit} ms` };
  const { rank, phase, cost_ns } = found;
  const message = `others waited ${(cost_ns / 1e6).toFixed(3)} ms for rank ${rank}, late in ${phase}, more than ${limit} ms`;
  return { outcome: "breach", message };
}

/** Returns the value of --max-late-ms, if it is given. */
function limitOf(text) {
  if (text === undefined) return undefined;
  const limit = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(limit) && limit >= 0 ? limit : usage("--max-late-ms must be a number from 0");
}

const { values, positionals } = parseArguments();
const [path, ...traces] = positionals;
if (traces.length === 0) usage("expected a file of budgets and traces");
const maxLate = limitOf(values["max-late-ms"]);
const budgets = await readBudgets(path);

try {
  const { outcome, rows, markdown, junit } = await check(traces, budgets, { base: values.base ?? [] });
  for (const row of rows) {
    const about = traces.length > 1 ? `${row.trace}: ` : "";
    console.log(`${MARKS[row.outcome]} ${about}${row.metric}${row.name && ` ${row.name}`}: ${row.message}`);
  }
  const outcomes = [outcome];
  if (maxLate !== undefined) {
    const ofRanks = await late(traces, maxLate);
    console.log(`${MARKS[ofRanks.outcome]} ${ofRanks.message}`);
    outcomes.push(ofRanks.outcome);
  }
  if (values.summary) await appendFile(values.summary, `${markdown}\n`);
  if (values.junit) await writeFile(values.junit, junit);
  process.exitCode = CODES[["breach", "unfit", "pass"].find((one) => outcomes.includes(one))];
} catch (error) {
  if (error instanceof KinetoscopeError) usage(error.message);
  throw error;
}
