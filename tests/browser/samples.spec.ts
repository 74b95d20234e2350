// Samples of call stacks as a flame graph: the numbers are those that the command line prints.

import type { Page } from "@playwright/test";
import { own, rowsOf } from "./files";
import { expect, open, rowsIn, stepsTrace, test, view, violations } from "./page";

const trace = own("healthy/samples.json");

interface Counted {
  name: string;
  own: number;
  samples: number;
}

const counted = ({ name, own: self, samples }: Counted): Counted => ({ name, own: self, samples });

/** Checks that the table of functions shows what the command line prints with these options. */
async function shows(page: Page, ...options: string[]): Promise<void> {
  const expected = rowsOf<Counted>("samples", trace, ...options).map(counted);
  const table = page.locator('.table-scroll[aria-label="Functions"]');
  const shown = async () => ((await rowsIn(table)) as unknown as Counted[]).map(counted);
  await expect.poll(shown).toEqual(expected);
}

async function openSamples(page: Page): Promise<void> {
  await open(page, trace);
  await view(page, "flame");
  await page
    .getByRole("tab", { name: "Samples" })
    .or(page.getByRole("button", { name: "Samples" }))
    .click();
  await expect(page.locator("main canvas")).toBeVisible();
}

test("samples are counted everywhere, by thread, between spans and in spans", async ({ opened: page }) => {
  await openSamples(page);
  await shows(page);
  expect(await violations(page)).toEqual([]);
  await page.locator("[data-thread-chooser]").selectOption("2");
  await shows(page, "--thread", "2");
  await page.locator("[data-thread-chooser]").selectOption("");
  await page.locator("select").last().selectOption("between");
  await shows(page, "--between");
  await page.locator("select").last().selectOption("everywhere");
  await page.getByLabel("In spans named").fill("parse");
  await shows(page, "--span", "parse");
  await page.getByLabel("In spans named").fill("none of them");
  await expect(page.locator("main .empty")).toHaveText("No samples are selected.");
});

test("a span of the timeline leads to its samples", async ({ opened: page }) => {
  await open(page, trace);
  await view(page, "timeline");
  await page.locator("main").getByLabel("Search").fill("parse");
  await page.locator("main").getByLabel("Search").press("Enter");
  await page.getByRole("link", { name: "Samples of call stacks" }).click();
  await shows(page, "--time", "100us..300us", "--thread", "1");
  await page.getByRole("button", { name: "All of the time" }).click();
  await shows(page, "--thread", "1");
});

test("a trace without samples says how to record them", async ({ opened: page }) => {
  await open(page, stepsTrace);
  await view(page, "flame");
  await page.getByText("Samples", { exact: true }).click();
  await expect(page.locator("[data-missing=samples]")).toContainText("sample_stacks");
});

test("the overview has the functions with most samples, and no numbers of operators", async ({ opened: page }) => {
  const chrome = own("healthy/samples_of_hermes.json");
  await open(page, chrome);
  await view(page, "overview");
  const table = page.locator('.table-scroll[aria-label="Top functions, by samples"]');
  const expected = rowsOf<Counted>("samples", chrome).slice(0, 10).map(counted);
  await expect.poll(async () => ((await rowsIn(table)) as unknown as Counted[]).map(counted)).toEqual(expected);
  await expect(page.locator("[data-card=operators]")).toHaveCount(0);
  await page.locator("[data-panel=top-functions]").getByRole("link", { name: "All" }).click();
  await expect(page.locator("main canvas")).toBeVisible();
  await expect(page.locator('.table-scroll[aria-label="Functions"]')).toBeVisible();
});

test("the overview of a snapshot has the memory of its devices", async ({ opened: page }) => {
  const snapshot = own("snapshots/small-protocol-4.pickle");
  await open(page, snapshot);
  await view(page, "overview");
  const [summary] = rowsOf<{ memory: { device: string; segments: number }[] }>("summary", snapshot);
  const table = page.locator('.table-scroll[aria-label="Memory of the snapshot"]');
  const shown = async () => (await rowsIn(table)).map(({ device, segments }) => ({ device, segments }));
  await expect.poll(shown).toEqual((summary?.memory ?? []).map(({ device, segments }) => ({ device, segments })));
  expect(summary?.memory.length).toBeGreaterThan(0);
});
