// Takes the screenshots of the README: `cargo xtask screenshots`.

import { defineConfig } from "@playwright/test";
import { CHROMIUM } from "../js/browser.js";

export default defineConfig({
  testDir: ".",
  testMatch: "readme-pictures.ts",
  globalSetup: "./site.ts",
  outputDir: "out/results",
  reporter: [["list"]],
  use: { launchOptions: CHROMIUM, viewport: { width: 1280, height: 860 }, deviceScaleFactor: 1 },
});
