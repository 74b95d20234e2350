// Trend: the history of a program, with and without an open trace.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { own, rowsOf } from "./files";
import { drop, expect, open, rowsIn, savedBy, test, view, violations } from "./page";

interface Row {
  kind: string;
  metric: string;
  run: number;
  commit: string;
  before: number;
  after: number;
  change: number;
}

const RUNS = 20;

/** The step becomes slower in the run 13, and the launches fewer in the run 9. */
const line = (at: number): string => {
  const noise = 1 + ((at * 7919) % 13) / 2000;
  const metrics = {
    step: (at < 12 ? 25e6 : 31e6) * noise,
    launches: at < 8 ? 412 : 398,
    "memory peak": 2 ** 30,
    ...(at > 4 ? { "operator aten::mm": 6e6 * noise } : {}),
  };
  const commit = `${at + 10}`.repeat(20);
  const line = { schema: "kinetoscope.history/1", time: 1_750_000_000 + at * 86_400, commit, host: "ci", metrics };
  return `${JSON.stringify(line)}\n`;
};

const lines = Array.from({ length: RUNS }, (_, at) => line(at)).join("");

let folder: string;
let file: string;

test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "kinetoscope-trend-"));
  file = join(folder, "history.jsonl");
  writeFileSync(file, lines);
});

test.afterAll(() => rmSync(folder, { recursive: true }));

test(
  "a history opens without a trace and shows where a metric changed",
  { tag: "@smoke" },
  async ({ opened: page }) => {
    await open(page, file);
    await expect(page.locator("main[data-view=trend]")).toBeVisible();
    const changes = rowsOf<Row & Record<string, unknown>>("trend", file).filter(({ kind }) => kind === "change");
    expect(changes.map(({ metric, run }) => [metric, run])).toEqual([
      ["step", 13],
      ["launches", 9],
    ]);
    await expect(page.locator("[data-verdict]")).toHaveAttribute("data-verdict", "2");
    const shown = await rowsIn(page.locator("[aria-label=Changes]"));
    expect(
      shown.map(({ run, commit, metric, before, after, change }) => [run, commit, metric, before, after, change]),
    ).toEqual(
      changes.map(({ run, commit, metric, before, after, change }) => [
        run,
        commit.slice(0, 10),
        metric,
        before,
        after,
        change,
      ]),
    );
    await expect(page.locator("[data-metric]")).toHaveCount(4);
    await expect(page.locator("[data-metric=step]")).toHaveAttribute("data-changes", "1");
    await expect(page.locator("[data-metric='memory peak']")).toHaveAttribute("data-changes", "0");
    const saved = await savedBy(page, page.getByRole("button", { name: "JSON", exact: true }));
    expect(saved.name).toBe("history.trend.json");
    expect((JSON.parse(saved.text) as { rows: Row[] }).rows).toEqual(rowsOf("trend", file));
  },
);

test("the pointer shows a run in all charts", async ({ opened: page }) => {
  await open(page, file);
  const chart = page.locator("[data-metric=step] .u-over");
  const box = await chart.boundingBox();
  if (!box) throw new Error("no chart");
  await page.mouse.move(box.x + (box.width * (13 - 0.5)) / RUNS, box.y + 30);
  for (const metric of ["step", "launches"]) {
    const line = page.locator(`[data-metric=${metric}] .trend-line`);
    await expect(line).toHaveAttribute("data-run", "13");
    await expect(line).toContainText("run 13 · 2222222222 · 2025-06-27");
  }
  await expect(page.locator("[data-metric=step] .trend-line b")).toHaveText(/^31\.\d ms$/);
  await expect(page.locator("[data-metric=launches] .trend-line b")).toHaveText("398");
  await page.mouse.move(5, 5);
  await expect(page.locator("[data-metric=step] .trend-line")).toContainText("in run 13");
});

test("metrics are filtered, and the address keeps the filter", async ({ opened: page }) => {
  await open(page, file);
  await page.getByLabel("Filter").fill("aten::");
  await expect(page.locator("[data-metric]")).toHaveCount(1);
  await expect(page).toHaveURL(/q=aten/);
  await page.reload();
  await open(page, file);
  await expect(page.locator("[data-metric]")).toHaveCount(1);
  await page.getByLabel("Filter").fill("");
  await page.getByRole("button", { name: "Only changed" }).click();
  await expect(page.locator("[data-metric]")).toHaveCount(2);
});

test("a history and a trace are open together, or one of them", async ({ opened: page }) => {
  await open(page, file);
  await page.locator("nav [data-view=overview]").click();
  await expect(page.locator("main")).toContainText("No trace is open");
  await open(page, own("healthy/small_gpu_trace.json"));
  await expect(page.locator("main .cards").first()).toBeVisible();
  await view(page, "trend");
  await expect(page.locator("[data-metric]")).toHaveCount(4);
  await drop(page, [{ name: "other.jsonl", bytes: Buffer.from(line(0)) }]);
  await expect(page.locator("[data-verdict]")).toHaveAttribute("data-verdict", "0");
  await view(page, "overview");
  await expect(page.locator("main .cards").first()).toBeVisible();
});

test("a history opens from an address", { tag: "@http" }, async ({ opened: page, site }) => {
  await page.route("**/history.jsonl", (route) => route.fulfill({ body: lines }));
  await page.goto(`${site.url}?trace=history.jsonl`);
  await expect(page.locator("main[data-view=trend] [data-metric]")).toHaveCount(4);
});

test("a broken line of a history is reported", async ({ opened: page }) => {
  await drop(page, [{ name: "broken.jsonl", bytes: Buffer.from(`${line(0)}{"schema":"x"}\n`) }]);
  await expect(page.locator(".failure")).toHaveText('line 2: the schema is "x", not kinetoscope.history/1');
});

for (const colorScheme of ["light", "dark"] as const)
  test(`a history has no serious violations of accessibility, ${colorScheme}`, async ({ opened: page }) => {
    await page.emulateMedia({ colorScheme });
    await open(page, file);
    await expect(page.locator("[data-metric]")).toHaveCount(4);
    expect(await violations(page)).toEqual([]);
  });
