// Runs of several ranks: all ways to open them, the view of their ranks, single ranks and the merged timeline.

import { readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { tar, zip } from "../../web/tests/archives";
import { own } from "./files";
import { drop, expect, open, rowsIn, settled, stepsTrace, test, view, violations } from "./page";
import type { Page } from "@playwright/test";

const RANKS = [0, 1, 2, 3];

const tracesOf = (run: string): string[] => RANKS.map((rank) => own(`runs/${run}/rank${rank}.json.gz`));

const bytesOf = (run: string): { name: string; bytes: Buffer }[] =>
  tracesOf(run).map((path, rank) => ({ name: `rank${rank}.json.gz`, bytes: readFileSync(path) }));

/** Six ranks: more than are kept open. The last two are copies of others under other numbers. */
const SIX = [...bytesOf("slow_forward"), ...bytesOf("slow_forward").slice(0, 2)].map(({ bytes }, rank) => {
  return { name: `rank${rank}.json.gz`, bytes };
});

async function shown(page: Page): Promise<void> {
  await expect(page.locator("main[data-view=ranks] [data-panel=heat] canvas").first()).toBeVisible({ timeout: 30_000 });
  await settled(page);
}

/** The colour of the heat map at a place, as the sum of its channels. */
const shadeAt = (page: Page, x: number, y: number): Promise<number> =>
  page.locator(".heat canvas").evaluate(
    (canvas: HTMLCanvasElement, place) => {
      const ratio = canvas.width / canvas.clientWidth;
      const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
      const context = copy.getContext("2d", { willReadFrequently: true });
      context?.drawImage(canvas, 0, 0);
      const data = context?.getImageData(place.x * ratio, place.y * ratio, 1, 1).data;
      return (data?.[0] ?? 0) + (data?.[1] ?? 0) + (data?.[2] ?? 0);
    },
    { x, y },
  );

test("the late rank is named, with its phase and evidence", { tag: "@smoke" }, async ({ opened: page }) => {
  await open(page, ...tracesOf("slow_forward"));
  await view(page, "ranks");
  await shown(page);
  await expect(page.locator("[data-late]")).toHaveCount(1);
  await expect(page.locator("[data-late='2'][data-phase=forward]")).toContainText("slow_forward");
  await expect(page.locator("[data-card=ranks] .card-value")).toHaveText("4 of 4");
  const ranks = await rowsIn(page.locator("[aria-label=Ranks].table-scroll"));
  expect(ranks.map((row) => row["rank"])[0]).toBe(2);
  expect(ranks).toHaveLength(4);
  expect(await rowsIn(page.locator("[data-panel=clocks] .table-scroll"))).toHaveLength(4);
  expect(await rowsIn(page.locator("[data-panel=collectives] .table-scroll"))).toHaveLength(3);
  await expect(page.locator("[data-panel=fitness]")).toContainText("no memory events were recorded");
  await expect(page.locator("[data-panel=arrivals] canvas").first()).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Rank 2" }).first().click();
  await expect(page.locator("main[data-view=overview]")).toBeVisible();
  await expect(page.locator(".trace-chooser select")).toHaveValue("2");
});

/** A trace of a run as that of another rank, on a machine. */
function moved(from: number, rank: number, host: string): { name: string; bytes: Buffer } {
  const trace = JSON.parse(gunzipSync(readFileSync(own(`runs/slow_forward/rank${from}.json.gz`))).toString());
  trace.distributedInfo.rank = rank;
  trace.host_name = host;
  return { name: `rank${rank}.json`, bytes: Buffer.from(JSON.stringify(trace)) };
}

test("a machine whose ranks are all late is named", async ({ opened: page }) => {
  await drop(page, [moved(0, 0, "node-a"), moved(1, 1, "node-a"), moved(2, 2, "node-b"), moved(2, 3, "node-b")]);
  await view(page, "ranks");
  await shown(page);
  await expect(page.locator("[data-slow-node=node-b][data-phase=forward]")).toContainText("ranks 2, 3");
  await expect(page.locator("[data-slow-node]")).toHaveCount(1);
});

test("the heat map shows measures and orders, and opens a rank", async ({ opened: page }) => {
  await open(page, ...tracesOf("slow_forward"));
  await page.keyboard.press("r");
  await shown(page);
  const canvas = page.locator(".heat canvas");
  // Rank 2 is the first line, and darker than the second.
  await expect.poll(async () => (await shadeAt(page, 200, 35)) < (await shadeAt(page, 200, 57))).toBe(true);
  await page.locator("[data-measure=waited_ns]").click();
  await page.locator("[data-order]").selectOption("rank");
  await canvas.hover({ position: { x: 200, y: 35 } });
  await expect(page.locator(".heat .tip")).toContainText("Rank 0, step 2: Waits");
  await page.locator(".heat-scroll").focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  await expect(page.locator(".heat .tip")).toContainText(/Rank [12], step 3: Waits/);
  await page.locator("[data-alike]").check();
  await canvas.click({ position: { x: 300, y: 35 } });
  await expect(page.locator("main[data-view=overview]")).toBeVisible();
  await page.goBack();
  await expect(page.locator("[data-measure=waited_ns]")).toHaveAttribute("aria-selected", "true");
});

test("of many ranks only summaries are kept, and a click opens one", { tag: "@smoke" }, async ({ opened: page }) => {
  await drop(page, [
    ...SIX,
    { name: "notes.txt", bytes: Buffer.from("hello") },
    { name: "config.json", bytes: Buffer.from("{}") },
  ]);
  await shown(page);
  await expect(page.locator("[data-card=ranks] .card-value")).toHaveText(/^4/);
  await expect(page.locator("[data-note=skipped]").first()).toContainText("notes.txt");
  await expect(page.locator(".trace-chooser select")).toHaveValue("");
  await page.locator("nav [data-view=timeline]").click();
  await expect(page.locator("main")).toContainText("No rank is open");
  await page.locator(".trace-chooser select").selectOption("rank3.json.gz");
  await expect(page.locator("main[data-view=overview] [data-card=steps]")).toBeVisible();
  await view(page, "ranks");
  await page.getByRole("button", { name: "Rank 2" }).first().click();
  await expect(page.locator("main[data-view=overview]")).toBeVisible();
  await expect(page.locator(".trace-chooser select")).toHaveValue("rank2.json.gz");
  await open(page, stepsTrace);
  await expect(page.locator(".trace-name")).toHaveText("trace.json.gz");
});

test("archives open as their files", async ({ opened: page }) => {
  const members = bytesOf("two_groups").map(({ name, bytes }) => ({ path: `run/${name}`, bytes }));
  const all = [...members, { path: "run/config.yaml", bytes: Buffer.from("lr: 1") }];
  for (const [name, bytes] of [
    ["run.tar", tar(all)],
    ["run.tar.gz", gzipSync(tar(all))],
    ["run.zip", zip(all)],
  ] as const) {
    await drop(page, [{ name, bytes: Buffer.from(bytes) }]);
    await expect(page.locator(".trace-chooser option")).toHaveCount(4);
    await page.locator("nav [data-view=ranks]").click();
    await shown(page);
    await expect(page.locator("[data-panel=groups] .row")).not.toHaveCount(0);
    await expect(page.locator("[data-note=skipped]")).toContainText("config.yaml");
  }
  await drop(page, [{ name: "broken.zip", bytes: Buffer.from("PK nothing") }]);
  await expect(page.locator("[data-left-out=unreadable]")).toContainText("broken.zip");
});

test("a saved summary opens again", async ({ opened: page }) => {
  await open(page, ...tracesOf("alternating"));
  await view(page, "ranks");
  await shown(page);
  await expect(page.locator("[data-late]")).not.toHaveCount(0);
  const late = await page.locator("[data-late]").count();
  const waiting = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save summary" }).click();
  const download = await waiting;
  expect(download.suggestedFilename()).toBe("run.ksum");
  await open(page, await download.path());
  await shown(page);
  await expect(page.locator("[data-late]")).toHaveCount(late);
  await expect(page.locator("[data-merge]")).toHaveCount(0);
});

test("chosen ranks open as one timeline", async ({ opened: page }) => {
  await open(page, ...tracesOf("clocks"));
  await view(page, "ranks");
  await shown(page);
  const ranks = page.getByRole("textbox", { name: "Ranks" });
  await ranks.fill("1, 9");
  await page.locator("[data-merge]").click();
  await expect(page.getByRole("alert")).toContainText("no trace of rank 9");
  await ranks.fill("1-2");
  await page.locator("[data-merge]").click();
  await expect(page.locator("main[data-view=timeline]")).toBeVisible({ timeout: 30_000 });
  await expect(page.locator(".trace-chooser select")).toHaveValue("4");
  await view(page, "overview");
  await expect(page.locator("[data-identities=holds]")).toBeVisible();
});

test("a run without a trace gives an error", async ({ opened: page }) => {
  await drop(
    page,
    RANKS.concat(4).map((rank) => ({ name: `rank${rank}.json`, bytes: Buffer.from("hello") })),
  );
  await expect(page.getByRole("alert")).toContainText("not a trace");
  await open(page, stepsTrace);
});
