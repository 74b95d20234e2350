// Behaviour of all views: the address, keys, themes, accessibility, exports.

import { readFileSync } from "node:fs";
import { VIEWS } from "../../web/src/model/views";
import { VIEW_TEXTS } from "../../web/src/strings";
import { own, rowsOf } from "./files";
import { drop, expect, open, rowsIn, sampleTrace, savedBy, settled, stepsTrace, test, view, violations } from "./page";

test("the address keeps the state, and back and forward restore it", async ({ opened: page }) => {
  await open(page, sampleTrace);
  await view(page, "operators");
  await page.locator("[data-sort=count]").click();
  await page.getByLabel("Filter").fill("aten::a");
  await expect(page).toHaveURL(/q=aten/);
  const before = await rowsIn(page.locator("[aria-label=Operators]"));
  await view(page, "modules");
  await page.goBack();
  await expect(page.locator("main[data-view=operators]")).toBeVisible();
  expect(await rowsIn(page.locator("[aria-label=Operators]"))).toEqual(before);
  await page.goForward();
  await expect(page.locator("main[data-view=modules]")).toBeVisible();
  await page.goBack();
  await page.reload();
  await expect(page.locator(".lost-name")).toContainText("trace.json.gz");
  await open(page, sampleTrace);
  expect(await rowsIn(page.locator("[aria-label=Operators]"))).toEqual(before);
});

test("every view has a key, and a dialog lists the keys", { tag: "@smoke" }, async ({ opened: page }) => {
  await open(page, sampleTrace);
  for (const name of VIEWS) {
    await page.keyboard.press(VIEW_TEXTS[name].key);
    await expect(page.locator(`main[data-view=${name}]`)).toBeVisible();
  }
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog", { name: "Keyboard" })).toHaveCount(0);
  await page.keyboard.press("3");
  await page.keyboard.press("/");
  await page.keyboard.type("conv");
  await expect(page.getByLabel("Filter")).toHaveValue("conv");
});

test("the key o opens files with and without an open trace", async ({ opened: page }) => {
  // The listener is added early: the browser takes a while to register the first one.
  const opened: Promise<void>[] = [];
  page.on("filechooser", (chooser) => void opened.push(chooser.setFiles(sampleTrace)));
  for (const times of [1, 2]) {
    // A browser opens the file chooser only after a user interaction.
    await page.locator("h1").click();
    await page.keyboard.press("o");
    await expect.poll(() => opened.length).toBe(times);
    await opened.at(-1);
    await expect(page.locator("nav")).toBeVisible();
    await expect(page.locator("h1")).toHaveText("Overview");
  }
});

test("a table can be used with the keyboard alone", async ({ opened: page }) => {
  await open(page, sampleTrace);
  await view(page, "operators");
  await expect(page.locator("[aria-label=Operators] .row").first()).toBeVisible();
  await page.locator(".table-scroll[aria-label=Operators]").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-instances]")).toBeVisible();
  await expect(page.locator("[aria-expanded=true]")).toHaveAttribute("aria-rowindex", "3");
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-instances]")).toHaveCount(0);
  await page.keyboard.press("End");
  await expect(page.locator(".tr.active")).toBeInViewport();
});

test("an instance links to the timeline", async ({ opened: page }) => {
  await open(page, sampleTrace);
  await view(page, "operators");
  await page.getByLabel("Filter").fill("aten::addmm");
  await page.locator("[aria-label=Operators] .row [data-key=name]").first().click();
  await page.locator(".instances tbody a").first().click();
  await expect(page.locator("main[data-view=timeline]")).toBeVisible();
  await expect(page.locator("[data-event] h2")).toHaveText("aten::addmm");
  await page.getByRole("link", { name: "In the operators" }).click();
  await expect(page.getByLabel("Filter")).toHaveValue("aten::addmm");
});

test("filters accept regular expressions and mark invalid ones", async ({ opened: page }) => {
  await open(page, sampleTrace);
  await view(page, "operators");
  const all = rowsOf<{ name: string }>("ops", sampleTrace);
  await page.getByLabel("Filter").fill("/^aten::(mm|bmm)$/");
  await expect(page.locator(".row-count")).toContainText(
    `${all.filter((row) => /^aten::(mm|bmm)$/.test(row.name)).length} of ${all.length}`,
  );
  await page.getByLabel("Filter").fill("/(/");
  await expect(page.getByLabel("Filter")).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator(".empty")).toBeVisible();
});

test("exports equal the output of the command line", { tag: "@smoke" }, async ({ opened: page }) => {
  await open(page, stepsTrace);
  for (const [name, query] of [
    ["operators", "ops"],
    ["steps", "steps"],
    ["modules", "modules"],
  ] as const) {
    await view(page, name);
    await settled(page);
    const saved = await savedBy(page, page.getByRole("button", { name: "JSON", exact: true }));
    expect((JSON.parse(saved.text) as { rows: object[] }).rows).toEqual(rowsOf(query, stepsTrace));
    const csv = await savedBy(page, page.getByRole("button", { name: "CSV", exact: true }));
    expect(csv.text.split("\r\n")).toHaveLength(rowsOf(query, stepsTrace).length + 2);
  }
});

test("the theme follows the system, and a choice is stored", async ({ opened: page, place }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.locator("[data-theme-button]").click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  await page.keyboard.press("t");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  if (place === "http") {
    await page.emulateMedia({ colorScheme: "light" });
    await page.reload();
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  }
});

test("tooltips are shown on hover and on focus", async ({ opened: page }) => {
  await open(page, sampleTrace);
  await page.locator("[data-card=wall] .card-value").hover();
  await expect(page.getByRole("tooltip")).toContainText("Exactly");
  await view(page, "operators");
  await page.getByLabel("Filter").focus();
  for (let presses = 0; presses < 12; presses += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.getAttribute("data-sort") === "cpu_time_total_ns")) break;
  }
  await expect(page.getByRole("tooltip")).toContainText("CPU time, including callees");
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds no serious violations, ${colorScheme}`, async ({ opened: page }) => {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page), "start").toEqual([]);
    await open(page, own("healthy/small_gpu_trace.json"), stepsTrace);
    for (const name of VIEWS) {
      await view(page, name);
      await settled(page);
      expect(await violations(page), name).toEqual([]);
    }
    await view(page, "operators");
    await page.locator("[aria-label=Operators] .row [data-key=name]").first().click();
    await expect(page.locator("[data-instances]")).toBeVisible();
    expect(await violations(page), "open row").toEqual([]);
  });
}

test("a narrow page does not scroll horizontally", async ({ opened: page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await open(page, sampleTrace);
  for (const name of VIEWS) {
    await view(page, name);
    await settled(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(390);
    expect(
      await page.locator("main").evaluate((main) => main.scrollWidth - main.clientWidth),
      name,
    ).toBeLessThanOrEqual(1);
  }
});

// A page opened from a file is always available offline.
test("the page works offline after the first visit", { tag: "@http" }, async ({ opened: page, context }) => {
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  const kept = () =>
    page.evaluate(async () => {
      const requests = (await caches.keys()).map(async (name) => (await caches.open(name)).keys());
      return (await Promise.all(requests)).flat().map((request) => request.url);
    });
  await expect.poll(async () => (await kept()).some((url) => url.endsWith(".wasm"))).toBe(true);
  // Only one build of the engine is cached: the one that this browser uses.
  expect((await kept()).filter((url) => url.endsWith(".wasm"))).toHaveLength(1);
  await context.setOffline(true);
  // The state of a view is in the address.
  await page.evaluate(() => (location.hash = "view=kernels"));
  await page.reload();
  await drop(page, [{ name: "second.json.gz", bytes: readFileSync(stepsTrace) }]);
  await expect(page.locator(".trace-name")).toHaveText("second.json.gz");
  await context.setOffline(false);
});
