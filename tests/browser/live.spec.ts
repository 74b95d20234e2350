// Recordings that are shown while a program writes them: `kinetoscope view --follow` and `kinetoscope attach`.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Page } from "@playwright/test";
import { example, native } from "./files";
import { expect, open, stepsTrace, test, view, violations } from "./page";

/** The longest usual time between the writing of an event and its appearance, in ms. */
const DELAY = 1000;

/** The length of the head of a block, and the place of the payload's length in it. */
const [HEAD, LENGTH] = [24, 12];

/** The blocks of a recording. */
function blocks(recording: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < recording.length;) {
    const end = at + HEAD + recording.readUInt32LE(at + LENGTH);
    found.push(recording.subarray(at, end));
    at = end;
  }
  return found;
}

/** The first line that a process prints. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", (data: Buffer) => resolve(data.toString().trim()));
    child.once("exit", (code) => reject(new Error(`exited with ${code}`)));
  });
}

/** Runs a process during `use`, which receives its first line. */
async function running(command: string, args: string[], use: (line: string, child: ChildProcess) => Promise<void>) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, TMPDIR: folder } });
  try {
    await use(await firstLine(child), child);
  } finally {
    child.kill();
  }
}

const folder = mkdtempSync(join(tmpdir(), "kinetoscope-live-"));

/** The number of events that the page shows. */
async function events(page: Page): Promise<number> {
  const note = await page.locator("[data-card=wall] .card-note").textContent();
  return Number((note ?? "").replace(/\D/g, ""));
}

test("a file that grows is followed with a delay below a second", async ({ page }) => {
  spawnSync(example("live"), [], { env: { ...process.env, TMPDIR: folder } });
  const all = blocks(readFileSync(join(folder, "live.ktrace")));
  const file = join(folder, "followed.ktrace");
  const half = Math.floor(all.length / 2);
  await running(native, ["view", "--no-open", "--follow", file], async (url) => {
    await page.goto(url);
    await expect(page.locator("[data-live=waiting]")).toBeVisible();
    await expect(page.locator("[data-live-waiting]")).toBeVisible();
    writeFileSync(file, Buffer.concat(all.slice(0, half)));
    // The test is not the process that records.
    await expect(page.locator("[data-live=killed], [data-live=recording]")).toBeVisible();
    await expect(page.locator("nav")).toBeVisible();
    const before = await events(page);
    const delays: number[] = [];
    for (const [from, to] of [
      [half, half + 4],
      [half + 4, half + 8],
      [half + 8, all.length - 30],
    ]) {
      const shown = await events(page);
      const written = Date.now();
      appendFileSync(file, Buffer.concat(all.slice(from, to)));
      await expect.poll(() => events(page), { intervals: [20] }).toBeGreaterThan(shown);
      delays.push(Date.now() - written);
    }
    // The median, because other work of the machine delays single updates.
    delays.sort((a, b) => a - b);
    expect(delays[1], `${delays}`).toBeLessThan(DELAY);

    await page.locator(".live-bar button").click();
    const paused = await events(page);
    appendFileSync(file, Buffer.concat(all.slice(all.length - 30)));
    await expect(page.locator("[data-live=ended]")).toBeVisible();
    expect(await events(page)).toBe(paused);
    await page.locator(".live-bar button").click();
    await expect.poll(() => events(page)).toBeGreaterThan(paused);
    expect(before).toBeGreaterThan(0);

    const opened = page.waitForEvent("popup");
    await page.locator(".live-bar a").click();
    const whole = await opened;
    await expect(whole.locator("nav")).toBeVisible();
    await expect(whole.locator(".live-bar")).toHaveCount(0);
    // The state of the last seconds is that of the whole, as the recording is shorter.
    expect(await events(whole)).toBe(await events(page));
  });
});

test("a program starts and stops its recordings from the page", async ({ page }) => {
  await running(example("live"), ["60"], async (line, program) => {
    await running(native, ["attach", "--no-open", String(program.pid)], async (url) => {
      await page.goto(url);
      await expect(page.locator("[data-command=start]")).toBeVisible();
      expect(await violations(page), "waiting").toEqual([]);
      await page.locator("[data-command=start]").click();
      await expect(page.locator("[data-live=recording]")).toBeVisible();
      await expect(page.locator("nav")).toBeVisible();
      expect(await violations(page), "recording").toEqual([]);
      await view(page, "operators");
      await expect(page.locator(".row", { hasText: "request" }).first()).toBeVisible();
      await view(page, "timeline");
      await expect(page.locator("[data-view-end]")).toBeVisible();
      const shownEnd = async () => Number(await page.locator("[data-view-end]").getAttribute("data-view-end"));
      const end = await shownEnd();
      await expect.poll(shownEnd).toBeGreaterThan(end);

      // A part that the user looks at does not move.
      await page.locator(".timeline-scroll").press("w");
      await expect(page.locator("[data-live=paused]")).toBeVisible();
      await page.locator(".live-bar button", { hasText: "Go on" }).click();
      await expect(page.locator("[data-live=recording]")).toBeVisible();

      await page.locator("[data-command=stop]").click();
      await expect(page.locator("[data-live=ended]")).toBeVisible();
      await page.locator("[data-command=start]").click();
      await expect(page.locator(".live-file")).toHaveText(/\.2\.ktrace$/);
      program.kill();
      await expect(page.locator(".live-bar .failure")).toBeVisible();
      await expect(page.locator("[data-live=killed]")).toBeVisible();
      expect(line).toContain("kinetoscope attach");

      // Another trace ends it.
      await open(page, stepsTrace);
      await expect(page.locator(".live-bar")).toHaveCount(0);
      await page.waitForTimeout(600);
      await expect(page.locator(".trace-name")).toHaveText(basename(stepsTrace));
    });
  });
});
