// Files that are opened with a trace: captures of graphs, and files of torch.compile. What they show: lines and operators.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { tar } from "../../web/tests/archives";
import { own, root, rowsOf } from "./files";
import { drop, expect, open, rowsIn, settled, stepsTrace, test, view, violations } from "./page";

const compiled = own("inductor/c/trace.json.gz");
const log = own("inductor/c/torch_trace.log.gz");
const LOG = "dedicated_log_torch_trace_x.log.gz";
const nodes = own("inductor/annotations/input.trace.json");
const stacks = own("inductor/annotations/py_stacks.json.gz");
const serving = `${root}docs/traces/serving.json.gz`;
const capture = `${root}docs/traces/serving-capture.json.gz`;

type Row = Record<string, string | number | null>;

const given = (name: string, path: string): { name: string; bytes: Buffer } => ({ name, bytes: readFileSync(path) });

const tableOf = (page: Page, name: string) => page.locator(`.table-scroll[aria-label="${name}"]`);

/** Checks the rows of a table, by their numbers and texts. */
async function shows(page: Page, name: string, rows: readonly Row[], keys: readonly string[]): Promise<void> {
  const shown = await rowsIn(tableOf(page, name));
  const only = (row: Record<string, string | number | null>) => keys.map((key) => String(row[key] ?? "–"));
  const inOrder = (all: readonly Record<string, string | number | null>[]) => all.map(only).sort();
  expect(inOrder(shown)).toEqual(inOrder(rows));
}

test("a trace opens with the log of torch.compile", { tag: "@smoke" }, async ({ opened: page }) => {
  const rows = rowsOf<Row>("compiled", compiled, "--provenance", log);
  const ofKind = (kind: string) => rows.filter((row) => row["kind"] === kind);
  await drop(page, [given("trace.json.gz", compiled), given(LOG, log)]);
  await expect(page.locator(".trace-name")).toHaveText("trace.json.gz");
  await expect(page.locator("[data-not-joined]")).toHaveCount(0);
  await view(page, "compiled");
  await settled(page);
  await expect(page.locator("[data-without-files]")).toHaveCount(0);
  await shows(page, "Graphs", ofKind("graph"), ["function", "calls", "host_ns", "kernels", "recompile_reason"]);
  await shows(page, "Kernels", ofKind("kernel"), ["name", "calls", "host_ns", "source", "operators"]);
  await shows(page, "Graph breaks", ofKind("break"), ["line", "count", "compile_id", "reason"]);
  const lines = ofKind("kernel").map((row) => row["source"]);
  expect(lines).toContain("case_c.py:11");
  await expect(page.locator("[data-key=source] [data-source='case_c.py:11']")).toHaveCount(
    lines.filter((line) => line === "case_c.py:11").length,
  );
  // The path is not absolute.
  await expect(page.locator("main a[href^='vscode:']")).toHaveCount(0);
  expect(await violations(page), "light").toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await violations(page), "dark").toEqual([]);
});

test(
  "a log that does not fit is named, and the trace opens without it",
  { tag: "@smoke" },
  async ({ opened: page }) => {
    for (const bytes of [readFileSync(log), Buffer.from("no log")]) {
      await drop(page, [given("steps.json.gz", stepsTrace), { name: LOG, bytes }]);
      const notice = page.locator("[data-not-joined=provenance]");
      await expect(notice).toContainText(LOG);
      await expect(page.locator(".trace-name")).toHaveText("steps.json.gz");
      await expect(page.locator("[data-card=steps]")).toBeVisible();
      expect(await violations(page)).toEqual([]);
      await page.locator(".not-joined button").click();
      await expect(notice).toHaveCount(0);
    }
    await view(page, "compiled");
    await expect(page.locator("[data-missing=compiled]")).toBeVisible();
  },
);

test("files are added to the open trace: by a button, and by dropping only files of torch.compile", async ({
  opened: page,
}) => {
  const before = rowsOf<Row>("compiled", compiled).filter((row) => row["kind"] === "kernel");
  await open(page, compiled);
  await view(page, "compiled");
  await shows(page, "Kernels", before, ["name", "calls", "host_ns"]);
  await expect(page.locator("[data-without-files]")).toBeVisible();
  await page.locator("[data-join] input").setInputFiles([log]);
  await expect(page.locator("[data-source='case_c.py:11']").first()).toBeVisible();
  await expect(page.locator("main[data-view=compiled]")).toBeVisible();
  await expect(page.locator("[data-without-files]")).toHaveCount(0);
  await open(page, compiled);
  await expect(page.locator("[data-without-files]")).toBeVisible();
  await drop(page, [given(LOG, log)]);
  await expect(page.locator("[data-source='case_c.py:11']").first()).toBeVisible();
});

test("files of torch.compile without a trace, and with several, are not opened", async ({ opened: page }) => {
  await drop(page, [given(LOG, log)]);
  await expect(page.getByRole("alert")).toContainText("together with the trace");
  await drop(page, [given("a.json.gz", stepsTrace), given("b.json.gz", stepsTrace), given(LOG, log)]);
  await expect(page.locator("[data-not-joined=several_traces]")).toContainText(LOG);
  await expect(page.locator(".trace-chooser option")).toHaveCount(2);
});

test("a log of another rank is not used", async ({ opened: page }) => {
  const text = gunzipSync(readFileSync(compiled)).toString();
  const ranked = text.replace("{", '{"distributedInfo": {"rank": 3, "world_size": 4},');
  const other = "dedicated_log_torch_trace_rank_2_x.log.gz";
  await drop(page, [
    { name: "trace.json", bytes: Buffer.from(ranked) },
    given("dedicated_log_torch_trace_rank_3_x.log.gz", log),
    given(other, log),
  ]);
  await expect(page.locator("[data-not-joined=other_rank]")).toContainText(other);
  await view(page, "compiled");
  await expect(page.locator("[data-source='case_c.py:11']").first()).toBeVisible();
});

test("captures of a folder show the operators of graphs, of groups and of one kernel", async ({ opened: page }) => {
  const rows = rowsOf<Row>("kernels", serving, "--by", "operator", "--capture", capture);
  const members = [
    { path: "run/trace.json.gz", bytes: readFileSync(serving) },
    { path: "run/capture_traces/8.json.gz", bytes: readFileSync(capture) },
  ];
  await drop(page, [{ name: "run.tar", bytes: Buffer.from(tar(members)) }]);
  await expect(page.locator(".trace-name")).toHaveText("trace.json.gz");
  await expect(page.locator("[data-not-joined]")).toHaveCount(0);
  await view(page, "kernels");
  await page.locator("select[data-group]").selectOption("operator");
  await shows(page, "Kernels", rows, ["name", "count", "sum_ns"]);
  expect(await violations(page)).toEqual([]);
  await page.locator("select[data-group]").selectOption("name");
  const [longest] = rowsOf<Row>("kernels", serving, "--capture", capture);
  await tableOf(page, "Kernels").locator(".row > .tr").first().click();
  // The shortest ones are of graphs.
  await page.locator(".instances a").last().click();
  await expect(page.locator("[data-origin=operator]")).toContainText(String(longest?.["op"]));
  await expect(page.locator("[data-origin=operator]")).toContainText("by the capture of its graph");
  expect(await violations(page)).toEqual([]);
});

test("a dropped folder opens with its captures and its files of torch.compile", async ({ opened: page, place }) => {
  const folder = test.info().outputPath("run");
  const debug = `${folder}/torch_compile_debug/run_1/torchinductor/model__0_forward_1.0`;
  for (const path of [`${folder}/capture_traces`, debug]) mkdirSync(path, { recursive: true });
  copyFileSync(serving, `${folder}/trace.json.gz`);
  copyFileSync(capture, `${folder}/capture_traces/8.json.gz`);
  copyFileSync(log, `${folder}/${LOG}`);
  writeFileSync(`${debug}/other.json`, "{}");
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [folder], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data });
  if (place === "file") {
    await expect(page.getByRole("alert")).toContainText("an archive of the folder");
    return;
  }
  await expect(page.locator(".trace-name")).toHaveText("trace.json.gz");
  // The captures are of this trace, and the log is of another one.
  await expect(page.locator("[data-not-joined]")).toHaveCount(1);
  await expect(page.locator("[data-not-joined=provenance]")).toContainText(`run/${LOG}`);
  await view(page, "kernels");
  await page.locator("select[data-group]").selectOption("operator");
  const rows = rowsOf<Row>("kernels", serving, "--by", "operator", "--capture", capture);
  await shows(page, "Kernels", rows, ["name", "count", "sum_ns"]);
});

test("the folders of torch_compile_debug say which pass a graph is", async ({ opened: page }) => {
  const [trace, mappings] = ["trace.json.gz", "inductor_provenance_tracking_node_mappings.json"] as const;
  const graph = "torch_compile_debug/run_1/torchinductor/model__0_forward_1.0";
  const folder = test.info().outputPath("run");
  mkdirSync(`${folder}/${graph}`, { recursive: true });
  copyFileSync(own(`inductor/a/${trace}`), `${folder}/${trace}`);
  copyFileSync(own(`inductor/a/${mappings}`), `${folder}/${graph}/${mappings}`);
  const rows = rowsOf<Row>("compiled", `${folder}/${trace}`);
  expect(rows.map((row) => row["graph_kind"])).toContain("forward");
  const members = [trace, `${graph}/${mappings}`].map((path) => ({
    path: `run/${path}`,
    bytes: readFileSync(`${folder}/${path}`),
  }));
  await drop(page, [{ name: "run.tar", bytes: Buffer.from(tar(members)) }]);
  await view(page, "compiled");
  const ofKind = (kind: string) => rows.filter((row) => row["kind"] === kind);
  await shows(page, "Graphs", ofKind("graph"), ["calls", "host_ns", "kernels"]);
  const names = (await rowsIn(tableOf(page, "Graphs"))).map((row) => String(row["graph"]));
  expect(names.some((name) => name.endsWith("forward"))).toBe(true);
  await shows(page, "Kernels", ofKind("kernel"), ["name", "calls", "host_ns", "nodes"]);
});

test("a capture that does not fit is named", async ({ opened: page }) => {
  for (const bytes of [readFileSync(stepsTrace), Buffer.from("no trace")]) {
    const members = [
      { path: "run/trace.json.gz", bytes: readFileSync(serving) },
      { path: "run/capture_traces/8.json.gz", bytes },
    ];
    await drop(page, [{ name: "run.tar", bytes: Buffer.from(tar(members)) }]);
    await expect(page.locator("[data-not-joined=captures]")).toContainText("run/capture_traces/8.json.gz");
    await expect(page.locator(".trace-name")).toHaveText("trace.json.gz");
    await page.locator(".not-joined button").click();
  }
});

test("lines of absolute paths are links to an editor, and are copied by a click", async ({ opened: page, place }) => {
  const rows = rowsOf<Row>("kernels", nodes, "--provenance", stacks);
  const bySource = rowsOf<Row>("kernels", nodes, "--by", "source", "--provenance", stacks);
  const byAnnotation = rowsOf<Row>("kernels", nodes, "--by", "annotation", "--provenance", stacks);
  await open(page, nodes);
  await page.locator("[data-join] input").setInputFiles([stacks]);
  await view(page, "kernels");
  await shows(page, "Kernels", rows, ["short_name", "count", "sum_ns"]);
  const sources = page.locator("[data-key=source] [data-source]");
  expect(
    await sources
      .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset["source"]))
      .then((all) => all.sort()),
  ).toEqual(rows.flatMap((row) => row["source"] ?? []).sort());
  const source = String(rows.find((row) => row["source"] !== null)?.["source"]);
  expect(source).toMatch(/^\/.+:\d+$/);
  const shown = page.locator(`[data-source='${source}']`).first();
  const link = shown.locator("a");
  await expect(link).toHaveAttribute("href", `vscode://file${source}`);
  await link.hover();
  await expect(page.getByRole("tooltip")).toContainText(`Open ${source} in Visual Studio Code`);
  if (place === "http") await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await shown.getByRole("button").click();
  await expect(shown.getByRole("button")).toHaveAttribute("aria-label", "Copied");
  if (place === "http") expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(source);
  await expect(page.locator(".detail")).toHaveCount(0);
  await page.locator("select[data-group]").selectOption("source");
  await shows(page, "Kernels", bySource, ["name", "count", "sum_ns"]);
  await page.locator("select[data-group]").selectOption("annotation");
  await shows(page, "Kernels", byAnnotation, ["name", "count", "sum_ns"]);
});
