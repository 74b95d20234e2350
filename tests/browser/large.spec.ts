// Traces that are larger than memory: exact totals, a timeline of all of the time, and windows of events.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { native } from "./files";
import { expect, rowsIn, sampleTrace, settled, stepsTrace, test, view, violations, visit } from "./page";

interface Event {
  ph: string;
  cat?: string;
  ts?: number;
}

const [TURNS, PAUSE] = [150, 1e5];

/** Writes a trace of 290,000 events: those of another one again and again, 100 ms later each time. */
function long(): string {
  const trace = JSON.parse(gunzipSync(readFileSync(sampleTrace)).toString()) as { traceEvents: Event[] };
  const spans = trace.traceEvents.filter((event) => event.ph === "X" && event.cat !== "Trace");
  const lines = trace.traceEvents.map((event) => JSON.stringify(event));
  for (let turn = 1; turn < TURNS; turn += 1)
    for (const event of spans)
      lines.push(JSON.stringify({ ...event, args: {}, ts: (event.ts as number) + turn * PAUSE }));
  const path = join(mkdtempSync(join(tmpdir(), "kinetoscope-large-")), "long.json");
  const text = JSON.stringify({ ...trace, traceEvents: 0 });
  writeFileSync(
    path,
    text.replace('"traceEvents":0', () => `"traceEvents":[${lines.join(",\n")}]`),
  );
  return path;
}

let file = "";
test.beforeAll(() => void (file = long()));

const shown = (page: Page): Promise<[number, number]> =>
  page
    .locator("[data-window]")
    .evaluate((element: HTMLElement) => (element.dataset["window"] ?? "").split(",").map(Number) as [number, number]);

/** Opens the trace with memory for a part of it. */
async function openedLarge(page: Page): Promise<void> {
  await page.goto(`${page.url()}?memory=30`);
  await page.locator("input[type=file]").first().setInputFiles(file);
  await expect(page.locator("[data-window]")).toBeVisible({ timeout: 60_000 });
  await settled(page);
}

test("the totals of a trace larger than memory are exact", async ({ opened: page }) => {
  await openedLarge(page);
  const text = execFileSync(native, ["outline", file, "--format", "json"], { maxBuffer: 1 << 28 }).toString();
  const { rows } = JSON.parse(text) as { rows: Record<string, string | number>[] };
  const totals = page.locator("[data-panel=totals]");
  await expect(totals).toContainText(Number(rows[0]?.["events"]).toLocaleString("en"));
  const found = await rowsIn(totals.locator(".table"));
  const expected = rows.filter((row) => row["kind"] === "category");
  expect(found.map((row) => [row["category"], row["events"], row["sum_ns"]])).toEqual(
    expected.slice(0, found.length).map((row) => [row["category"], row["events"], row["sum_ns"]]),
  );
  await expect(page.locator("[data-part]")).toContainText("All below is about the part from 0 to");
  await totals.locator("[data-tab=track]").click();
  await expect(totals.locator(".table")).toContainText("python 1418");
});

test("zooming in reads the visible events", async ({ opened: page }) => {
  await openedLarge(page);
  const first = await shown(page);
  expect(first[0]).toBe(0);
  await view(page, "timeline");
  await settled(page);
  await expect(page.locator("[data-window-state=many]")).toBeVisible();
  const [start, end] = [10e9, 10.2e9];
  await page.evaluate(([from, to]) => (location.hash = `#view=timeline&start=${from}&end=${to}`), [start, end]);
  await expect.poll(async () => (await shown(page))[0], { timeout: 30_000 }).toBeGreaterThan(first[1]);
  const next = await shown(page);
  expect(next[0]).toBeLessThanOrEqual(start);
  expect(next[1]).toBeGreaterThanOrEqual(end);
  await settled(page);
  // The view did not move, and its events can be selected.
  const kept = await page.locator(".in-sight").evaluate((element: HTMLElement) => element.dataset["viewStart"]);
  expect(Number(kept)).toBe(start);
  await page.keyboard.press("Enter");
  await expect(page.locator(".details-body")).toBeVisible();
  // Another view answers for the same part.
  await view(page, "operators");
  await settled(page);
  expect(await shown(page)).toEqual(next);
  const calls = (await rowsIn(page.locator(".table").first())).find((row) => row["name"] === "aten::addmm");
  expect(Number(calls?.["count"])).toBeGreaterThan(0);
});

test("a trace larger than memory has no accessibility violations", async ({ opened: page }) => {
  await openedLarge(page);
  expect(await violations(page)).toEqual([]);
  await view(page, "timeline");
  await settled(page);
  expect(await violations(page)).toEqual([]);
});

test("a trace that fits is opened completely", async ({ page, place, site }) => {
  await visit(page, place, site);
  await page.goto(`${page.url()}?memory=30`);
  await page.locator("input[type=file]").first().setInputFiles(stepsTrace);
  await expect(page.locator("[data-card=wall]")).toBeVisible({ timeout: 30_000 });
  await expect(page.locator("[data-window]")).toHaveCount(0);
});
