// Prints a Markdown report of all traces in a folder: `node report.mjs FOLDER > report.md`. If they are ranks of one run,
// the report begins with that run.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { open, openRun } from "kinetoscope";

const folder = process.argv[2];
if (folder === undefined) {
  console.error("usage: node report.mjs FOLDER");
  process.exit(2);
}

const ms = (ns) => `${(ns / 1e6).toFixed(3)} ms`;
const percent = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "–");

async function section(name) {
  const trace = await open(join(folder, name));
  try {
    const summary = trace.summary();
    const info = trace.info();
    const lines = [`## ${name}`, "", `${info.producer} · ${trace.length} events · ${ms(summary.wall_ns)}`, ""];
    for (const device of summary.devices) {
      const busy = percent(device.busy_ns, device.window_ns);
      lines.push(`- device ${device.device}: busy ${busy} of ${ms(device.window_ns)}, idle ${ms(device.idle_ns)}`);
    }
    if (summary.steps > 0) lines.push(`- ${summary.steps} steps, mean ${ms(summary.mean_step_ns)}`);
    for (const finding of summary.findings) lines.push(`- **${finding.message}** ${finding.advice}`);
    const options = { sortBy: "self_cpu_time_total", rowLimit: 5 };
    lines.push("", trace.markdown("ops", options), trace.markdown("kernels", { rowLimit: 5 }));
    for (const { code, count, description } of trace.diagnostics().filter((d) => d.severity === "lost")) {
      lines.push(`> ${code} ×${count}: ${description}`, "");
    }
    return lines.join("\n");
  } finally {
    trace.dispose();
  }
}

/** The section about several ranks; empty if they have no collectives in common, or none is a trace. */
async function sectionOfRun(names) {
  const run = await openRun(names.map((name) => join(folder, name))).catch((error) => {
    if (error.code === "internal") throw error;
  });
  if (run === undefined) return "";
  try {
    const [{ matched, ranks }] = run.ranks({ kinds: ["run"] });
    if (matched === 0) return "";
    const lines = [`## ${ranks.length} ranks`, "", `${matched} collectives of several ranks.`, ""];
    const late = run.ranks({ kinds: ["straggler"] });
    for (const { rank, phase, cost_ns, message } of late) {
      const cause = message === null ? "" : ` ${message}.`;
      lines.push(`- **rank ${rank}** is late in ${phase}; the others waited ${ms(cost_ns)}.${cause}`);
    }
    if (late.length === 0) lines.push("No rank of these is late.");
    for (const { message } of run.notes) lines.push("", `> ${message}`);
    lines.push("", "```text", run.table().trimEnd(), "```", "");
    return lines.join("\n");
  } finally {
    run.dispose();
  }
}

const isTrace = (name) => /\.json(\.gz|\.zst)?$/.test(name);
const names = (await readdir(folder, { recursive: true })).filter(isTrace).sort();
if (names.length === 0) {
  console.error(`report: ${folder} has no traces`);
  process.exit(2);
}
console.log(`# Traces in ${folder}\n`);
const together = await sectionOfRun(names);
if (together) console.log(together);
let unread = 0;
for (const name of names) {
  try {
    console.log(await section(name));
  } catch (error) {
    unread += 1;
    console.log(`## ${name}\n\nNot read: ${error.message}.\n`);
  }
}
// A report without any trace is not one of a good run.
if (unread === names.length) process.exitCode = 1;
