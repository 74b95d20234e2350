// Benchmarks of the page: prints figures for the README; the limits are loose enough for a busy machine.

import { execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import type { Browser, Page } from "@playwright/test";
import { target } from "./files";
import { expect, settled, test, view } from "./page";

const MB = 1e6;

/** Returns a trace of about this size; it is generated once. */
function generated(bytes: number): string {
  const folder = `${target}/page-bench`;
  mkdirSync(folder, { recursive: true });
  const events = Math.round(bytes / 250);
  const path = `${folder}/${events}.json`;
  if (!existsSync(path)) {
    const file = openSync(path, "w");
    execFileSync(`${target}/release/generate-trace`, [String(events), "1"], { stdio: ["ignore", file, "inherit"] });
    closeSync(file);
  }
  return path;
}

interface Opening {
  firstNumbers: number;
  all: number;
  longestTask: number;
  tasksOver50: number;
}

/** Opens a file and measures the time from its choice to the first numbers and to all numbers. */
async function opening(page: Page, file: string): Promise<Opening> {
  await page.evaluate(() => {
    const found = { begun: 0, firstNumbers: 0, all: 0, longestTask: 0, tasksOver50: 0 };
    (globalThis as unknown as { found: typeof found }).found = found;
    document.addEventListener("change", () => (found.begun = performance.now()), { capture: true, once: true });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.startTime < found.begun || found.begun === 0) continue;
        found.tasksOver50 += 1;
        found.longestTask = Math.max(found.longestTask, entry.duration);
      }
    }).observe({ type: "longtask" });
    const poll = (): void => {
      const now = performance.now();
      if (found.begun && !found.firstNumbers && document.querySelector("[data-preview=wall], [data-card=wall]"))
        found.firstNumbers = now;
      if (found.begun && !found.all && document.querySelector("[data-card=wall]")) found.all = now;
      if (!found.all) requestAnimationFrame(poll);
    };
    poll();
  });
  await page.locator("input[type=file]").first().setInputFiles(file);
  await expect(page.locator("[data-card=wall]")).toBeVisible({ timeout: 240_000 });
  await settled(page);
  return page.evaluate(() => {
    const { begun, firstNumbers, all, longestTask, tasksOver50 } = (
      globalThis as unknown as { found: Opening & { begun: number } }
    ).found;
    return { firstNumbers: firstNumbers - begun, all: all - begun, longestTask, tasksOver50 };
  });
}

const print = (what: string, file: string, opened: Opening): void => {
  const size = `${(statSync(file).size / MB).toFixed(0)} MB`;
  const { firstNumbers, all, longestTask, tasksOver50 } = opened;
  console.log(
    `SPEED ${what} (${size}): first numbers ${(firstNumbers / 1000).toFixed(2)} s, all ${(all / 1000).toFixed(2)} s, longest task of the page ${longestTask.toFixed(0)} ms, ${tasksOver50} over 50 ms`,
  );
};

test("60 MB", async ({ opened: page }) => {
  const file = generated(60 * MB);
  const measured = await opening(page, file);
  print("small", file, measured);
  expect(measured.firstNumbers).toBeLessThan(5_000);
});

test("500 MB, and a timeline of all its events", async ({ opened: page }) => {
  test.setTimeout(400_000);
  const file = generated(500 * MB);
  const measured = await opening(page, file);
  print("large", file, measured);
  expect(measured.all).toBeLessThan(60_000);
  expect(measured.longestTask).toBeLessThan(500);
  await view(page, "timeline");
  await settled(page);
  const box = await page.locator("canvas.timeline-canvas").boundingBox();
  if (!box) throw new Error("no canvas");
  await page.waitForTimeout(1500);
  await page.evaluate(() => performance.clearMeasures());
  const [x, y] = [box.x + box.width * 0.4, box.y + box.height * 0.5];
  await page.mouse.move(x, y);
  for (let turn = 0; turn < 60; turn += 1) {
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, turn < 30 ? -60 : 60);
    await page.keyboard.up("Control");
    await page.mouse.wheel(turn % 2 === 0 ? 60 : -50, 0);
  }
  await page.keyboard.down("Shift");
  await page.mouse.down();
  for (let step = 0; step < 60; step += 1) await page.mouse.move(x + Math.sin(step / 8) * 300, y);
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const frames = await page.evaluate(() =>
    performance
      .getEntriesByName("timeline frame")
      .map((entry) => entry.duration)
      .sort((a, b) => a - b),
  );
  const at = (share: number): string => (frames[Math.floor((frames.length - 1) * share)] ?? NaN).toFixed(1);
  console.log(
    `SPEED timeline: script time of ${frames.length} frames, median ${at(0.5)} ms, 95th percentile ${at(0.95)} ms, longest ${at(1)} ms`,
  );
  expect(frames.length).toBeGreaterThan(50);
  expect(Number(at(0.95))).toBeLessThan(40);
});

test("2 GB opens in a tab", async ({ opened: page }) => {
  test.setTimeout(600_000);
  const file = generated(2000 * MB);
  const measured = await opening(page, file);
  print("very large", file, measured);
  await view(page, "timeline");
  await settled(page);
});

/** The size of the trace that is larger than the memory that the page may use; set it to 10000 for the figure of the docs. */
const LARGE_MB = Number(process.env["LARGE_MB"] ?? 500);

test("a trace larger than memory, and a window of it", async ({ opened: page }) => {
  test.setTimeout(600_000);
  const file = generated(LARGE_MB * MB);
  await page.goto(`${page.url()}?memory=${LARGE_MB / 10}`);
  const measured = await opening(page, file);
  print("larger than memory", file, measured);
  const bar = page.locator("[data-window]");
  const first = (await bar.getAttribute("data-window")) ?? "";
  await view(page, "timeline");
  await settled(page);
  await page.waitForTimeout(1000);
  const end = Number(await page.locator(".in-sight").getAttribute("data-view-end"));
  const begun = Date.now();
  await page.evaluate(
    ([from, to]) => (location.hash = `#view=timeline&start=${from}&end=${to}`),
    [Math.round(end * 0.6), Math.round(end * 0.602)],
  );
  await expect(bar).not.toHaveAttribute("data-window", first, { timeout: 60_000 });
  console.log(`SPEED window: ${Date.now() - begun} ms, of which it waits 400 ms for the view to stop`);
});

/** Returns the traces of a run of this many ranks; it is generated once. */
function generatedRun(ranks: number, events: number): string[] {
  const folder = `${target}/page-bench/run-${ranks}-${events}`;
  if (!existsSync(folder)) {
    mkdirSync(`${target}/page-bench`, { recursive: true });
    const part = `${folder}.part`;
    execFileSync(`${target}/release/generate-run`, [part, String(ranks), String(events)], { stdio: "inherit" });
    renameSync(part, folder);
  }
  return readdirSync(folder).map((name) => `${folder}/${name}`);
}

/** Returns the resident memory of the largest renderer, in bytes. */
async function rendererMemory(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const sizes = processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => {
      const status = readFileSync(`/proc/${id}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
    });
  return Math.max(...sizes);
}

test("64 ranks of 200,000 events in a tab", async ({ opened: page, browser }) => {
  test.setTimeout(400_000);
  const files = generatedRun(64, 200_000);
  const begun = performance.now();
  let most = 0;
  const measure = async (): Promise<void> => {
    most = Math.max(most, await rendererMemory(browser));
  };
  await page.locator("input[type=file]").first().setInputFiles(files);
  const heat = page.locator("main[data-view=ranks] [data-panel=heat] canvas").first();
  while (!(await heat.isVisible())) {
    await measure();
    await page.waitForTimeout(200);
    expect(performance.now() - begun).toBeLessThan(300_000);
  }
  const seconds = (performance.now() - begun) / 1000;
  await expect(page.locator("[data-card=ranks] .card-value")).toHaveText("64 of 64");
  const read = most;
  await page
    .getByRole("button", { name: /^Rank \d+$/ })
    .first()
    .click();
  await expect(page.locator("main[data-view=overview] [data-card=wall]")).toBeVisible({ timeout: 60_000 });
  await settled(page);
  await measure();
  console.log(
    `SPEED run: ${seconds.toFixed(1)} s, ${(read / MB).toFixed(0)} MB, after one rank was opened ${(most / MB).toFixed(0)} MB`,
  );
  expect(most).toBeLessThan(1500 * MB);
});
