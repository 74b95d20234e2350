// Runs the page in an installed Chromium: served over HTTP, and opened from a file.

import { defineConfig } from "@playwright/test";
import { CHROMIUM } from "../js/browser.js";
import { availableParallelism } from "node:os";
import type { Place } from "./page";

const SPEED = "speed.spec.ts";
const FIREFOX = "firefox.spec.ts";

/** Test files that only apply to HTTP; single tests of that kind have the tag @http. */
const HTTP = [SPEED, FIREFOX, "pictures.spec.ts", "view-command.spec.ts"];

export default defineConfig<object, { place: Place }>({
  testDir: ".",
  testMatch: "*.spec.ts",
  outputDir: "out/results",
  snapshotPathTemplate: "pictures/{arg}{ext}",
  reporter: [["list"], ["./count.ts"]],
  globalSetup: "./site.ts",
  workers: availableParallelism(),
  fullyParallel: true,
  forbidOnly: true,
  timeout: 90_000,
  expect: { timeout: 15_000, toHaveScreenshot: { maxDiffPixelRatio: 0.03, stylePath: "pictures.css" } },
  use: { launchOptions: CHROMIUM, viewport: { width: 1440, height: 900 }, colorScheme: "light", trace: "off" },
  projects: [
    { name: "http", use: { place: "http" }, testIgnore: [SPEED, FIREFOX] },
    { name: "file-smoke", use: { place: "file" }, testIgnore: HTTP, grep: /@smoke/ },
    { name: "file", use: { place: "file" }, testIgnore: HTTP, grepInvert: /@http/ },
    // Run with `--workers=1`.
    { name: "firefox", testMatch: FIREFOX },
    { name: "speed", use: { place: "http" }, testMatch: SPEED },
  ],
});
