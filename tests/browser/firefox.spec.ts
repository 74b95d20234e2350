// The page in Firefox, over WebDriver BiDi: every kind of input opens, every view has an answer, and the numbers are the engine's.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename } from "node:path";
import { expect, test } from "@playwright/test";
import puppeteer, { type Browser, type ElementHandle, type Page } from "puppeteer-core";
import { native, own } from "./files";
import { sampleTrace, stepsTrace } from "./page";
import { dist, siteUrl } from "./site";

let browser: Browser;
let page: Page;
let faults: string[];

test.beforeAll(async () => {
  browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: process.env["FIREFOX"],
    userDataDir: mkdtempSync(`${tmpdir()}/firefox-`),
  });
});
test.afterAll(async () => browser.close());

test.beforeEach(async () => {
  page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  faults = [];
  page.on("pageerror", (error) => faults.push(`error: ${String(error)}`));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`console: ${message.text()}`);
  });
  await page.goto(siteUrl());
});
test.afterEach(async () => {
  await page.close();
  expect(faults).toEqual([]);
});

async function open(...files: string[]): Promise<void> {
  const input = (await page.waitForSelector("input[type=file]")) as ElementHandle<HTMLInputElement>;
  await input.uploadFile(...files);
  await page.waitForSelector("nav");
}

async function view(name: string): Promise<void> {
  await page.click(`nav [data-view=${name}]`);
  await page.waitForSelector(`main[data-view=${name}]`);
  await page.waitForFunction(() => document.querySelector(".waiting") === null, { timeout: 60_000 });
}

const text = (selector: string): Promise<string> => page.$eval(selector, (element) => element.textContent ?? "");

/** The exact numbers of a column in the rows that are displayed. */
const numbers = (key: string): Promise<number[]> =>
  page.$$eval(`main .row [data-key="${key}"]`, (cells) =>
    cells.map((cell) => Number((cell as HTMLElement).dataset["value"])),
  );

function answer(...words: string[]): Record<string, unknown>[] {
  const document: unknown = JSON.parse(execFileSync(native, [...words, "--format", "json"], { encoding: "utf8" }));
  return (document as { rows: Record<string, unknown>[] }).rows;
}

test("every view of a trace has an answer", async () => {
  await open(stepsTrace);
  const views = await page.$$eval("nav [data-view]", (links) =>
    links.map((link) => (link as HTMLElement).dataset["view"]),
  );
  expect(views.length).toBeGreaterThan(8);
  for (const name of views) {
    await view(name as string);
    expect(await page.$$eval(".failure", (failures) => failures.map((failure) => failure.textContent)), name).toEqual(
      [],
    );
    expect((await text("main")).length, name).toBeGreaterThan(100);
  }
});

test("operators have the numbers of the command line", async () => {
  await open(sampleTrace);
  await view("operators");
  await page.waitForSelector("main .row");
  const shown = await numbers("self_cpu_time_total_ns");
  const rows = answer("ops", sampleTrace).map((row) => row["self_cpu_time_total_ns"] as number);
  expect(shown.length).toBeGreaterThan(10);
  const sorted = (all: number[]): number[] => [...all].sort((a, b) => b - a);
  expect(sorted(shown)).toEqual(sorted(rows).slice(0, shown.length));
});

test("every kind of input opens", async () => {
  const healthy = readdirSync(own("healthy")).map((name) => own(`healthy/${name}`));
  for (const file of [
    ...healthy,
    own("snapshots/small-protocol-4.pickle"),
    own("torch/legacy/memory_on/records.json.gz"),
  ]) {
    await open(file);
    const name = basename(file);
    await expect.poll(() => text(".trace-name"), { timeout: 30_000 }).toBe(name);
    await page.waitForSelector("[data-panel=data-quality]");
    expect(await page.$("[data-failure]"), name).toBeNull();
  }
});

test("a file that is not a trace is refused with a reason", async () => {
  const input = (await page.waitForSelector("input[type=file]")) as ElementHandle<HTMLInputElement>;
  await input.uploadFile(own("../browser/package.json"));
  await page.waitForSelector("[data-failure]");
  expect(await text("[data-failure]")).toContain("package.json");
});

test("ranks are compared", async () => {
  await open(...[0, 1, 2, 3].map((rank) => own(`runs/slow_forward/rank${rank}.json.gz`)));
  await view("ranks");
  expect(await text("main")).toContain("forward");
});

test("a trace is drawn", async () => {
  await open(stepsTrace);
  await view("timeline");
  const colors = () =>
    page.$$eval("main canvas", (all) =>
      all.map((canvas) => {
        const { width, height } = canvas;
        const pixels = canvas.getContext("2d")?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
        return new Set(new Uint32Array(pixels.buffer)).size;
      }),
    );
  await expect.poll(async () => Math.max(...(await colors())), { timeout: 30_000 }).toBeGreaterThan(10);
});

test("the page of one file opens a trace without a server", async () => {
  await page.goto(`file://${dist}/kinetoscope.html`);
  await open(stepsTrace);
  await view("operators");
  await page.waitForSelector("main .row");
});

test("the readable part of a damaged trace is shown", async () => {
  const cut = `${mkdtempSync(`${tmpdir()}/cut-`)}/cut.json.gz`;
  const complete = readFileSync(stepsTrace);
  writeFileSync(cut, complete.subarray(0, complete.length * 0.6));
  await open(cut);
  await page.waitForSelector(".banner.warning");
});
