// The page in an installed Chromium: served over HTTP, and opened from a file.

import { defineConfig } from "@playwright/test";
import { CHROMIUM } from "../js/browser.js";
import type { Place } from "./page";

export default defineConfig<{ place: Place }>({
  testDir: ".",
  testMatch: "*.spec.ts",
  outputDir: "out/results",
  snapshotPathTemplate: "pictures/{arg}{ext}",
  reporter: [["list"]],
  workers: 1,
  timeout: 90_000,
  expect: { timeout: 15_000, toHaveScreenshot: { maxDiffPixelRatio: 0.03, stylePath: "pictures.css" } },
  use: { launchOptions: CHROMIUM, viewport: { width: 1440, height: 900 }, colorScheme: "light", trace: "off" },
  projects: [
    { name: "http", use: { place: "http" } },
    { name: "file", use: { place: "file" }, testIgnore: ["speed.spec.ts", "pictures.spec.ts", "view-command.spec.ts"] },
  ],
});
