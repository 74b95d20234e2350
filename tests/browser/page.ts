// What every test begins with: the page, and an eye on what it must never do.

import { test as base, expect, type Locator, type Page } from "@playwright/test";
import { own } from "./files";
import { dist, siteUrl } from "./site";

/** Where the page comes from. */
export type Place = "http" | "file";

interface Fixtures {
  /** The page with nothing open. */
  opened: Page;
}

interface Shared {
  place: Place;
  /** The server of the page. */
  site: { url: string };
}

/** Goes to the page, and collects what it must never do: errors, warnings, requests to elsewhere. */
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

/** Opens files as a person does who picks them. */
export async function open(page: Page, ...files: string[]): Promise<void> {
  await page.locator("input[type=file]").first().setInputFiles(files);
  await expect(page.locator("nav")).toBeVisible({ timeout: 30_000 });
}

/** Goes to a view by its link. */
export async function view(page: Page, name: string): Promise<void> {
  await page.locator(`nav [data-view=${name}]`).click();
  await expect(page.locator(`main[data-view=${name}]`)).toBeVisible();
}

/** Waits until nothing is being computed. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator(".waiting")).toHaveCount(0, { timeout: 60_000 });
}

/** The rows of a table that are in the document, each by the keys of its columns: numbers exactly, texts as they are shown. */
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

/** What a button saves. */
export async function savedBy(page: Page, button: Locator): Promise<{ name: string; text: string }> {
  const waiting = page.waitForEvent("download");
  await button.click();
  const download = await waiting;
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return { name: download.suggestedFilename(), text: Buffer.concat(chunks).toString() };
}

/** Drops files on the page as a file manager does. */
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
