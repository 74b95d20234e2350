// The view Serving: its numbers are those of the command line, and its iterations open in the timeline.

import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Locator, Page } from "@playwright/test";
import { scaleOf } from "../../web/src/model/marks";
import { own, root, rowsOf } from "./files";
import { expect, open, rowsIn, settled, test, view, violations } from "./page";

const trace = `${root}docs/traces/serving.json.gz`;

interface Row {
  kind: string;
  phase: string | null;
  name: string;
  event: number;
  start_ns: number;
  range_ns: number;
  wall_ns: number;
  [key: string]: string | number | boolean | null;
}

const ofKind = (rows: readonly Row[], kind: string): Row[] => rows.filter((row) => row.kind === kind);

/** The exact number of a card. */
async function exactOf(page: Page, card: string): Promise<number> {
  const text = await page.locator(`[data-card="${card}"] .card-value`).getAttribute("data-exact");
  return Number((text ?? "").replaceAll(/[^\d.]/g, ""));
}

/** Checks the numbers of a table, and its rows in the order of the answer. */
async function shows(table: Locator, rows: readonly Row[], keys: readonly string[]): Promise<void> {
  const shown = await rowsIn(table);
  expect(shown.length).toBe(rows.length);
  for (const [at, row] of shown.entries())
    for (const key of keys) expect(row[key], `row ${at}, ${key}`).toBe(rows[at]?.[key] ?? row[key]);
}

test("the numbers of Serving are those of the command line", { tag: "@smoke" }, async ({ opened: page }) => {
  const rows = rowsOf<Row>("serving", trace);
  const [total] = ofKind(rows, "total");
  const [groups, iterations] = [ofKind(rows, "batch"), ofKind(rows, "iteration")];
  await open(page, trace);
  await view(page, "serving");
  await settled(page);
  expect(await exactOf(page, "iterations")).toBe(total?.["count"]);
  expect(await exactOf(page, "tokens")).toBe(total?.["tokens_per_second"]);
  expect(await exactOf(page, "per-token")).toBe(total?.["time_per_token_ns"]);
  const keys = ["count", "batch_mean", "tokens", "p50_ns", "p90_ns", "p99_ns", "tokens_per_second"];
  await shows(page.locator(".table-scroll[aria-label=Phases]"), ofKind(rows, "phase"), [...keys, "phase"]);
  await shows(page.locator(".table-scroll[aria-label=Groups]"), groups, [...keys, "phase", "wall_ns", "gemm_ns"]);
  const bars = page.locator("[data-group-bar]");
  const lengths = async () =>
    (await bars.evaluateAll((all) => all.map((one) => Number((one as HTMLElement).dataset["groupBar"])))).sort(
      (a, b) => a - b,
    );
  const sorted = (key: string) => groups.map((row) => Number(row[key])).sort((a, b) => a - b);
  expect(await lengths()).toEqual(sorted("time_per_token_ns"));
  await page.locator("[data-panel=groups] [data-tab=iteration]").click();
  expect(await lengths()).toEqual(sorted("p50_ns"));
  await page.locator("[data-panel=details] [data-tab=graph]").click();
  await shows(page.locator("[aria-label='Graph replays'].table-scroll"), ofKind(rows, "graph"), [
    "launches",
    "mean_ns",
    "mean_gap_ns",
  ]);
  await page.locator("[data-panel=details] [data-tab=iteration]").click();
  await expect(page.locator("[data-panel=details] .row-count")).toContainText(`${iterations.length} rows`);
  const table = page.locator(".table-scroll[aria-label=Iterations]");
  const shown = await rowsIn(table);
  expect(shown.map((row) => [row["name"], row["wall_ns"], row["start_ns"]])).toEqual(
    iterations.slice(0, shown.length).map((row) => [row.name, row.wall_ns, row.start_ns]),
  );
  expect(await violations(page), "light").toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await violations(page), "dark").toEqual([]);
});

test("a click on a bar opens its iteration in the timeline, coloured by phase", async ({ opened: page }) => {
  const rows = rowsOf<Row>("serving", trace);
  const iterations = ofKind(rows, "iteration");
  const phases = ofKind(rows, "phase").map((row) => row.phase);
  await open(page, trace);
  await view(page, "serving");
  await settled(page);
  const wanted = iterations.find((row) => row.phase === "mixed") as Row;
  const over = page.locator("[data-panel=phases-in-time] .u-over");
  const box = await over.boundingBox();
  const { range } = scaleOf([0, ...iterations.flatMap((row) => [row.start_ns, row.start_ns + row.range_ns])]);
  const share = (wanted.start_ns + wanted.range_ns / 2 - range[0]) / (range[1] - range[0]);
  const lane = (phases.indexOf("mixed") + 0.5) / phases.length;
  const position = { x: (box?.width ?? 0) * share, y: (box?.height ?? 0) * lane };
  await over.hover({ position });
  await expect(page.locator("[data-panel=phases-in-time] .chart-tip")).toContainText(wanted.name);
  await over.click({ position });
  await expect(page.locator("main[data-view=timeline]")).toBeVisible();
  await expect(page.locator("[data-event] .event-name")).toHaveText(wanted.name);
  expect(page.url()).toContain(`event=${wanted.event}`);
  await expect(page.locator("[data-legend]")).toHaveCount(phases.length);
  await expect.poll(() => hasColor(page, "--box-10")).toBe(true);
  await page.getByRole("button", { name: "Phases" }).click();
  await expect(page.locator(".phase-legend")).toHaveCount(0);
  expect(page.url()).not.toContain("color=");
  await page.goBack();
  await expect(page.locator("main[data-view=serving]")).toBeVisible();
});

/** Whether the timeline has a colour of the styles. */
function hasColor(page: Page, name: string): Promise<boolean> {
  return page.locator("canvas.timeline-canvas").evaluate((canvas: HTMLCanvasElement, style) => {
    // A copy is read: Chromium warns of several reads of the page's own canvas.
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const context = copy.getContext("2d", { willReadFrequently: true }) as OffscreenCanvasRenderingContext2D;
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    const wanted = parseInt(getComputedStyle(document.documentElement).getPropertyValue(style).trim().slice(1), 16);
    for (let at = 0; at < data.length; at += 4) {
      const [red, green, blue] = [data[at] as number, data[at + 1] as number, data[at + 2] as number];
      if (((red << 16) | (green << 8) | blue) === wanted) return true;
    }
    return false;
  }, name);
}

test("a trace without iterations says so, in Serving and in the timeline", async ({ opened: page }) => {
  const file = own("healthy/small_gpu_trace.json");
  expect(rowsOf("serving", file)).toEqual([]);
  await open(page, file);
  await view(page, "serving");
  await expect(page.locator("[data-missing=serving]")).toBeVisible();
  await view(page, "timeline");
  await page.getByRole("button", { name: "Phases" }).click();
  await expect(page.locator("p.phase-legend")).toContainText("no iterations");
});

test("inferred iterations are a guess, and values that no name states are missing", async ({ opened: page }) => {
  const { traceEvents, ...rest } = JSON.parse(gunzipSync(readFileSync(trace)).toString()) as {
    traceEvents: { cat?: string }[];
  };
  const unnamed = traceEvents.filter((event) => event.cat !== "user_annotation");
  const file = test.info().outputPath("unnamed.json");
  writeFileSync(file, JSON.stringify({ ...rest, traceEvents: unnamed }));
  const [total] = ofKind(rowsOf<Row>("serving", file), "total");
  await open(page, file);
  await view(page, "serving");
  await expect(page.locator("[data-inferred]")).toHaveAttribute("data-inferred", String(total?.["confidence"]));
  await expect(page.locator("[data-card=tokens] .card-value")).toHaveText("–");
  await expect(page.locator("[data-panel=wall-by-size] .chart")).toHaveCount(0);
  await expect(page.locator("[data-panel=groups] [data-tab=token]")).toHaveCount(0);
});

test("a chart is zoomed by a drag, which opens nothing, and shows all after a double-click", async ({
  opened: page,
}) => {
  await open(page, trace);
  await view(page, "serving");
  await settled(page);
  const panel = page.locator("[data-panel=phases-in-time]");
  const box = await panel.locator(".u-over").boundingBox();
  const [x, y, width] = [box?.x ?? 0, (box?.y ?? 0) + 2, box?.width ?? 0];
  const before = await panel.locator("canvas").screenshot();
  await page.mouse.move(x + width * 0.2, y);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.4, y + 9, { steps: 4 });
  await page.mouse.up();
  await page.mouse.move(0, 0);
  const zoomed = await panel.locator("canvas").screenshot();
  expect(zoomed.equals(before)).toBe(false);
  await page.mouse.dblclick(x + width * 0.3, y);
  await page.mouse.move(0, 0);
  await expect.poll(async () => (await panel.locator("canvas").screenshot()).equals(before)).toBe(true);
  await expect(page.locator("main[data-view=serving]")).toBeVisible();
});
