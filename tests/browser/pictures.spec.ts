// Compares the main views with reviewed screenshots. `--update-snapshots` updates them.

import type { Page } from "@playwright/test";
import { own } from "./files";
import { expect, open, sampleTrace, settled, test, view } from "./page";

// The content security policy of the page would block the style sheet with the font.
test.use({ bypassCSP: true });

/** Compares a view with its screenshot. Playwright waits until two screenshots in a row are equal. */
async function shown(page: Page, name: string): Promise<void> {
  await settled(page);
  await page.mouse.move(0, 0);
  await expect(page).toHaveScreenshot(`${name}.png`);
}

test("start", async ({ opened: page }) => {
  await shown(page, "start");
});

const VIEWS = {
  light: ["overview", "timeline", "operators", "flame", "memory", "modules"],
  dark: ["overview", "timeline", "flame"],
};

for (const colorScheme of ["light", "dark"] as const) {
  test(`views, ${colorScheme}`, async ({ opened: page }) => {
    await page.emulateMedia({ colorScheme });
    await open(page, sampleTrace);
    for (const name of VIEWS[colorScheme]) {
      await view(page, name);
      await shown(page, `${name}-${colorScheme}`);
    }
  });
}

test("a trace with a GPU, its kernel selected", async ({ opened: page }) => {
  await open(page, own("healthy/small_gpu_trace.json"));
  await shown(page, "gpu-overview");
  await view(page, "timeline");
  await page.getByLabel("Search").fill("gemm");
  await page.getByLabel("Search").press("Enter");
  await expect(page.locator("[data-event]")).toBeVisible();
  await shown(page, "gpu-timeline");
});

test("narrow", async ({ opened: page }) => {
  await page.setViewportSize({ width: 420, height: 820 });
  await open(page, sampleTrace);
  await shown(page, "narrow-overview");
  await view(page, "timeline");
  await shown(page, "narrow-timeline");
});
