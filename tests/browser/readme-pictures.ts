// Takes the screenshots of the README and the book.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { own, root, target } from "./files";
import { expect, open, sampleTrace, settled, test, view } from "./page";

const folder = `${root}docs/src/pictures`;

async function picture(page: Page, name: string): Promise<void> {
  await settled(page);
  await page.mouse.move(0, 0);
  await page.waitForTimeout(1000);
  await page.screenshot({ path: `${folder}/${name}.png` });
}

/** Returns the path of a generated trace of a GPU run. */
function generated(): string {
  const path = `${target}/readme.pt.trace.json`;
  writeFileSync(path, execFileSync(`${target}/release/generate-trace`, ["20000", "7"], { maxBuffer: 1 << 30 }));
  return path;
}

test.beforeAll(() => void mkdirSync(folder, { recursive: true }));

test("overview and timeline of a GPU run", async ({ opened: page }) => {
  await open(page, generated());
  await picture(page, "overview");
  await page.emulateMedia({ colorScheme: "dark" });
  await view(page, "timeline");
  await settled(page);
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await page.waitForTimeout(600);
  await page.getByLabel("Search").fill("/^cudaLaunchKernel$/");
  await page.getByLabel("Search").press("Enter");
  await expect(page.locator("[data-event]")).toBeVisible();
  await page.getByLabel("Search").fill("");
  await picture(page, "timeline");
});

test("call tree and memory of a CPU training", async ({ opened: page }) => {
  await open(page, sampleTrace);
  await view(page, "flame");
  await picture(page, "call-tree");
  await view(page, "memory");
  await picture(page, "memory");
});

test("the timelines of two runs", async ({ opened: page }) => {
  await open(page, own("pairs/base1.json.gz"), own("pairs/fused1.json.gz"));
  await settled(page);
  const panel = page.locator("[data-panel=timelines]");
  await panel.scrollIntoViewIfNeeded();
  await page.keyboard.press("w");
  await page.waitForTimeout(600);
  const [canvas, track] = [panel.locator("canvas").first(), panel.locator(".track-label").first()];
  const [box, label] = [await canvas.boundingBox(), await track.boundingBox()];
  if (!box || !label) throw new Error("no timeline");
  await page.mouse.move(box.x + box.width * 0.42, label.y + 2.5 * 18);
  await page.waitForTimeout(1000);
  await panel.screenshot({ path: `${folder}/compare-timelines.png` });
});

/** Returns the path of a history of 40 runs: one became slower, and copies take less time than before. */
function history(): string {
  const path = `${target}/readme.history.jsonl`;
  let state = 3;
  const noise = (amount: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return 1 + amount * (state / 2 ** 30 - 1);
  };
  const lines = Array.from({ length: 40 }, (_, at) => {
    const metrics = {
      step: (at < 24 ? 25.2e6 : 29.1e6) * noise(0.02),
      device_busy: (at < 24 ? 19e6 : 22.5e6) * noise(0.02),
      launches: at < 30 ? 412 : 398,
      "operator aten::bmm": (at < 24 ? 5.5e6 : 10.4e6) * noise(0.02),
      "operator aten::copy_": (at < 12 ? 3.3e6 : 2e6) * noise(0.03),
      "operator aten::mm": 6.6e6 * noise(0.02),
    };
    const commit = ((at + 1) * 0x9e3779b1).toString(16).repeat(4).slice(0, 40);
    return JSON.stringify({ schema: "kinetoscope.history/1", time: 1_750_000_000 + at * 43_200, commit, metrics });
  });
  writeFileSync(path, lines.join("\n"));
  return path;
}

test("the trend of a history", async ({ opened: page }) => {
  await open(page, history());
  await expect(page.locator("[data-metric]")).toHaveCount(6);
  await picture(page, "trend");
});
