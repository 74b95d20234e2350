// Takes the screenshots of the README and the book.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { root, target } from "./files";
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
