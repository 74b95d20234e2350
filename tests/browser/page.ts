// Fixtures: the page, monitored for errors, warnings and foreign requests.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import { own } from "./files";
import { dist, siteUrl } from "./site";

/** How the page is loaded. */
export type Place = "http" | "file";

interface Fixtures {
  /** The page without an open trace. */
  opened: Page;
}

interface Shared {
  place: Place;
  /** The server of the page. */
  site: { url: string };
}

/** Opens the page. Returns a list that collects faults: errors, warnings, and requests to other origins. */
export async function visit(page: Page, place: Place, site: { url: string }): Promise<string[]> {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
  });
  const [home, address] =
    place === "http" ? [site.url, site.url] : [`file://${dist}/`, `file://${dist}/kinetoscope.html`];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(home) && !/^(data|blob):/.test(url)) faults.push(`request: ${url}`);
  });
  await page.goto(address);
  return faults;
}

export const test = base.extend<Fixtures, Shared>({
  place: ["http", { option: true, scope: "worker" }],
  site: [async ({}, use) => use({ url: siteUrl() }), { scope: "worker" }],
  opened: async ({ page, place, site }, use) => {
    const faults = await visit(page, place, site);
    await use(page);
    expect(faults).toEqual([]);
  },
});

export { expect };

/** Opens files with the file chooser. */
export async function open(page: Page, ...files: string[]): Promise<void> {
  await page.locator("input[type=file]").first().setInputFiles(files);
  await expect(page.locator("nav")).toBeVisible({ timeout: 30_000 });
}

/** Opens a view with its link. */
export async function view(page: Page, name: string): Promise<void> {
  await page.locator(`nav [data-view=${name}]`).click();
  await expect(page.locator(`main[data-view=${name}]`)).toBeVisible();
}

/** Waits until no answer is pending. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator(".waiting")).toHaveCount(0, { timeout: 60_000 });
}

/** Returns the rendered rows of a table by column key, with exact numbers and displayed texts. */
export async function rowsIn(table: Locator): Promise<Record<string, string | number>[]> {
  await expect(table.locator(".row").first()).toBeVisible();
  return table.locator(".row > .tr").evaluateAll((rows) =>
    rows.map((row) => {
      const cells = [...row.querySelectorAll<HTMLElement>(":scope > .td")];
      return Object.fromEntries(
        cells.map((cell) => {
          const { key, value } = cell.dataset;
          const number = value === undefined || value === "null" || value === "undefined" ? undefined : Number(value);
          return [key as string, number ?? (cell.textContent ?? "").trim()];
        }),
      );
    }),
  );
}

/** Clicks a button and returns the file that it saves. */
export async function savedBy(page: Page, button: Locator): Promise<{ name: string; text: string }> {
  const waiting = page.waitForEvent("download");
  await button.click();
  const download = await waiting;
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return { name: download.suggestedFilename(), text: Buffer.concat(chunks).toString() };
}

/** Drops files on the page. */
export async function drop(page: Page, files: { name: string; bytes: Buffer }[]): Promise<void> {
  const given = files.map(({ name, bytes }) => ({ name, text: bytes.toString("base64") }));
  const transfer = await page.evaluateHandle((all) => {
    const made = new DataTransfer();
    for (const { name, text } of all)
      made.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name));
    return made;
  }, given);
  await page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
  await expect(page.locator(".drop-over")).toBeVisible();
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

export const sampleTrace = own("torch/kineto/transformer_training/trace.json.gz");
export const stepsTrace = own("torch/kineto/mlp_training/trace.json.gz");

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

/** The serious violations of accessibility that axe finds. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe
      .run()
      .then((result) => result.violations),
  );
  const serious = found.filter((one) => one.impact === "serious" || one.impact === "critical");
  return serious.map(
    (one) =>
      `${one.id}: ${one.nodes
        .map((node) => node.html.slice(0, 160))
        .slice(0, 3)
        .join(" | ")}`,
  );
}
