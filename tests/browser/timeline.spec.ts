// The timeline with mouse, keyboard and search, and the relations of events.

import type { Page } from "@playwright/test";
import { own, rowsOf } from "./files";
import { drop, expect, open, sampleTrace, savedBy, settled, stepsTrace, test, view } from "./page";

interface View {
  start: number;
  end: number;
}

const inSight = (page: Page): Promise<View> =>
  page.locator(".in-sight").evaluate((element: HTMLElement) => ({
    start: Number(element.dataset["viewStart"]),
    end: Number(element.dataset["viewEnd"]),
  }));

const length = ({ start, end }: View): number => end - start;

async function opened(page: Page, file: string): Promise<{ x: number; y: number; width: number; height: number }> {
  await open(page, file);
  await view(page, "timeline");
  await settled(page);
  const box = await page.locator("canvas.timeline-canvas").boundingBox();
  if (!box) throw new Error("no canvas");
  return box;
}

/** Returns the position of an event on the screen. */
async function placeOf(
  page: Page,
  box: { x: number; y: number; width: number },
  track: number,
  time: number,
  depth = 0,
): Promise<[number, number]> {
  const { start, end } = await inSight(page);
  const label = await page
    .locator(`.track-label`)
    .filter({ has: page.locator(`[data-row=t${track}], span`) })
    .first()
    .boundingBox();
  if (!label) throw new Error("the track has no label");
  return [box.x + ((time - start) / (end - start)) * box.width, label.y + depth * 18 + 9];
}

test("keys zoom, move, and show the complete trace", { tag: "@smoke" }, async ({ opened: page }) => {
  await opened(page, sampleTrace);
  const whole = await inSight(page);
  await page.keyboard.press("w");
  await expect.poll(async () => length(await inSight(page))).toBeLessThan(length(whole) * 0.65);
  const near = await inSight(page);
  await page.keyboard.press("d");
  await expect.poll(async () => (await inSight(page)).start).toBeGreaterThan(near.start);
  await page.keyboard.press("s");
  await expect.poll(async () => length(await inSight(page))).toBeGreaterThan(length(near) * 1.2);
  await page.keyboard.press("Home");
  await expect.poll(async () => inSight(page)).toEqual(whole);
});

test("Ctrl + wheel zooms at the pointer, Shift + drag moves, dragging the ruler zooms to the range", async ({
  opened: page,
}) => {
  const box = await opened(page, sampleTrace);
  const whole = await inSight(page);
  await page.mouse.move(box.x + box.width * 0.25, box.y + 200);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -120);
  await page.keyboard.up("Control");
  await expect.poll(async () => length(await inSight(page))).toBeLessThan(length(whole));
  const near = await inSight(page);
  const under = (of: View): number => of.start + 0.25 * length(of);
  expect(Math.abs(under(near) - under(whole))).toBeLessThan(length(whole) * 0.01);
  await page.keyboard.down("Shift");
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.25 - 200, box.y + 200, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await expect.poll(async () => (await inSight(page)).start).toBeGreaterThan(near.start);
  await page.keyboard.press("Home");
  await expect.poll(async () => inSight(page)).toEqual(whole);
  await page.mouse.move(box.x + box.width * 0.5, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 10, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => length(await inSight(page)) / length(whole)).toBeCloseTo(0.1, 1);
});

test("reduced motion disables animations", async ({ opened: page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await opened(page, sampleTrace);
  const whole = await inSight(page);
  await page.keyboard.press("w");
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const near = await inSight(page);
  expect(length(near)).toBeLessThan(length(whole));
  await page.waitForTimeout(250);
  expect(await inSight(page)).toEqual(near);
});

test("a click selects an event and shows its details", async ({ opened: page }) => {
  const box = await opened(page, stepsTrace);
  const [step] = rowsOf<{ name: string; start_ns: number; wall_ns: number }>("steps", stepsTrace);
  if (!step) throw new Error("no step");
  await page.getByLabel("Search").fill(step.name);
  await page.getByLabel("Search").press("Enter");
  const details = page.locator("[data-event]");
  await expect(details.locator("h2")).toHaveText(step.name);
  await expect(details.locator("[data-duration]")).toHaveAttribute("data-duration", String(step.wall_ns));
  await expect(page).toHaveURL(/event=\d+/);
  await details.getByRole("button", { name: "Close" }).click();
  await expect(details).toHaveCount(0);
  await page.getByLabel("Search").fill("");
  const tracks = rowsOf<{ track: number; spans: number }>("tracks", stepsTrace).sort((a, b) => b.spans - a.spans);
  const [x, y] = await placeOf(page, box, tracks[0]?.track ?? 0, step.start_ns + step.wall_ns / 2);
  await page.mouse.move(x, y);
  await expect(page.locator(".tip b")).not.toBeEmpty();
  const name = await page.locator(".tip b").textContent();
  await page.mouse.click(x, y);
  await expect(details.locator("h2")).toHaveText(name ?? "");
  await page.keyboard.press("Escape");
  await expect(details).toHaveCount(0);
});

test(
  "a kernel links to its launch and its operator, and the operator to the kernel",
  { tag: "@smoke" },
  async ({ opened: page }) => {
    const file = own("healthy/small_gpu_trace.json");
    await opened(page, file);
    const [kernel] = rowsOf<{ name: string; op: string }>("kernels", file);
    await page.getByLabel("Search").fill(kernel?.name ?? "");
    await page.getByLabel("Search").press("Enter");
    const details = page.locator("[data-event]");
    await expect(details.locator("[data-relation=launch]")).toContainText("LaunchKernel");
    await expect(details.locator("[data-relation=operator]")).toContainText(kernel?.op ?? "");
    await details.locator("[data-relation=operator] button").click();
    await expect(details.locator("h2")).toHaveText(kernel?.op ?? "");
    await expect(details.locator("[data-relation='device_work']")).toContainText(kernel?.name.slice(0, 12) ?? "");
    await page.goBack();
    await expect(details.locator("h2")).toHaveText(kernel?.name ?? "");
  },
);

test("forward and backward operators are linked", async ({ opened: page }) => {
  await opened(page, sampleTrace);
  await page.getByLabel("Search").fill("/^AddmmBackward0$/");
  await page.getByLabel("Search").press("Enter");
  const details = page.locator("[data-event]");
  await expect(details.locator("[data-relation=ancestor]")).toContainText("evaluate_function: AddmmBackward0");
  await details.locator("[data-relation=ancestor] button").first().click();
  await expect(details.locator("[data-relation=forward]")).toContainText("aten::addmm");
  await details.locator("[data-relation=forward] button").click();
  await expect(details.locator("[data-relation=backward]")).toContainText("AddmmBackward0");
});

test("matches are visited in both directions, and their number equals that of the command line", async ({
  opened: page,
}) => {
  await opened(page, sampleTrace);
  const names = rowsOf<{ name: string; count: number }>("names", sampleTrace).filter((row) =>
    row.name.includes("aten::mm"),
  );
  const many = names.reduce((sum, row) => sum + row.count, 0);
  await page.getByLabel("Search").fill("aten::mm");
  const status = page.locator("[data-matches]");
  await expect(status).toHaveAttribute("data-matches", String(many));
  await page.getByRole("button", { name: "Next match" }).click();
  await expect(status).toContainText(`1 of ${many}`);
  await page.getByRole("button", { name: "Previous match" }).click();
  await expect(status).toContainText(`${many} of ${many}`);
  await page.locator(".timeline-scroll").focus();
  await page.keyboard.press("n");
  await expect(status).toContainText(`1 of ${many}`);
  await page.keyboard.press("Shift+N");
  await expect(status).toContainText(`${many} of ${many}`);
});

test("the statistics of a selection equal those of the command line", async ({ opened: page }) => {
  const box = await opened(page, sampleTrace);
  await page.mouse.move(box.x + box.width * 0.3, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 300, { steps: 5 });
  await page.mouse.up();
  const panel = page.locator("[data-selection]");
  await expect(panel).toBeVisible();
  const area = new URL(page.url()).hash.match(/area=([\d%C.,]+)/)?.[1];
  const [start, end, ...tracks] = decodeURIComponent(area ?? "").split(",");
  const expected = rowsOf<{ name: string; total_ns: number; count: number }>(
    "names",
    sampleTrace,
    "--time",
    `${start}ns..${end}ns`,
    "--tracks",
    tracks.join(","),
  );
  const saved = await savedBy(page, panel.getByRole("button", { name: "JSON" }));
  expect((JSON.parse(saved.text) as { rows: object[] }).rows).toEqual(expected);
  const first = panel.locator(".row").first();
  await expect(first.locator("[data-key=total_ns]")).toHaveAttribute("data-value", String(expected[0]?.total_ns));
  await page.reload();
  await expect(page.locator(".lost-name")).toContainText("trace.json.gz");
  await open(page, sampleTrace);
  await expect(panel).toBeVisible();
});

test("tracks are filtered, closed and opened; the address keeps the state", async ({ opened: page }) => {
  await opened(page, sampleTrace);
  const before = await page.locator(".row-label").count();
  await page.locator("[data-row^=p]").first().click();
  await expect.poll(() => page.locator(".row-label").count()).toBeLessThan(before);
  await expect(page).toHaveURL(/closed=/);
  await page.locator("[data-row^=p]").first().click();
  await expect(page.locator(".row-label")).toHaveCount(before);
  await page.getByLabel("Tracks", { exact: true }).fill("memory");
  await expect(page.locator(".track-label")).toHaveCount(0);
  await expect(page.locator(".counter-label")).not.toHaveCount(0);
});

test("the critical path is drawn on request", async ({ opened: page }) => {
  const box = await opened(page, stepsTrace);
  const shot = (): Promise<Buffer> => page.screenshot({ clip: { ...box, height: 300 } });
  await settled(page);
  const before = await shot();
  const button = page.getByRole("button", { name: "Critical path" });
  await button.click();
  const periods = rowsOf("critical-path", stepsTrace, "--periods").length;
  await expect(button).toHaveAttribute("data-path", String(periods));
  await expect(page).toHaveURL(/path=1/);
  await expect.poll(async () => (await shot()).equals(before)).toBe(false);
  await button.click();
  await expect(button).toHaveAttribute("aria-pressed", "false");
});

test("the visible range is saved as a trace", async ({ opened: page }) => {
  await opened(page, stepsTrace);
  const whole = await savedBy(page, page.getByRole("button", { name: "Save slice" }));
  expect(whole.name).toBe("trace.slice.json");
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await page.waitForTimeout(500);
  const slice = await savedBy(page, page.getByRole("button", { name: "Save slice" }));
  const events = (text: string): number => (JSON.parse(text) as { traceEvents: object[] }).traceEvents.length;
  expect(events(slice.text)).toBeLessThan(events(whole.text));
  expect(events(slice.text)).toBeGreaterThan(0);
});

test("keys select the neighbours of an event", async ({ opened: page }) => {
  await opened(page, stepsTrace);
  const steps = rowsOf<{ name: string; start_ns: number }>("steps", stepsTrace).sort((a, b) => a.start_ns - b.start_ns);
  await page.getByLabel("Search").fill(steps[0]?.name ?? "");
  await page.getByLabel("Search").press("Enter");
  const title = page.locator("[data-event] h2");
  await expect(title).toHaveText(steps[0]?.name ?? "");
  const first = await page.locator("[data-event]").getAttribute("data-event");
  await page.locator(".timeline-scroll").focus();
  await page.keyboard.press("]");
  await expect(page.locator("[data-event]")).not.toHaveAttribute("data-event", first ?? "");
  await page.keyboard.press("[");
  await expect(page.locator("[data-event]")).toHaveAttribute("data-event", first ?? "");
});

test("touch moves and zooms", { tag: "@http" }, async ({ browser, site }) => {
  const context = await browser.newContext({ hasTouch: true, viewport: { width: 420, height: 820 } });
  const page = await context.newPage();
  await page.goto(site.url);
  const box = await opened(page, sampleTrace);
  const whole = await inSight(page);
  const touch = (type: string, points: { x: number; y: number }[]) =>
    client.send("Input.dispatchTouchEvent", { type: type as "touchStart", touchPoints: points });
  const client = await context.newCDPSession(page);
  const y = box.y + 120;
  const middle = box.x + box.width / 2;
  await touch("touchStart", [
    { x: middle - 20, y },
    { x: middle + 20, y },
  ]);
  for (const apart of [30, 45, 60, 80])
    await touch("touchMove", [
      { x: middle - apart, y },
      { x: middle + apart, y },
    ]);
  await touch("touchEnd", []);
  await expect.poll(async () => length(await inSight(page))).toBeLessThan(length(whole) * 0.5);
  const near = await inSight(page);
  await touch("touchStart", [{ x: middle, y }]);
  for (const by of [20, 40, 60]) await touch("touchMove", [{ x: middle - by, y }]);
  await touch("touchEnd", []);
  await expect.poll(async () => (await inSight(page)).start).toBeGreaterThan(near.start);
  await context.close();
});

test("events and statistics can be selected with the keyboard alone", async ({ opened: page }) => {
  await opened(page, sampleTrace);
  const title = page.locator("[data-event] h2");
  await expect.poll(async () => (await page.keyboard.press("Enter"), title.count())).toBe(1);
  const first = await title.textContent();
  await page.keyboard.press("c");
  await expect(title).not.toHaveText(first ?? "");
  await page.keyboard.press("p");
  await expect(title).toHaveText(first ?? "");
  await page.keyboard.press("f");
  await page.keyboard.press("m");
  await expect(page.locator("[data-selection] .row").first()).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator("[data-selection]")).toHaveCount(0);
});

test("flows of the file link events", async ({ opened: page }) => {
  const at = (name: string, tid: number, ts: number, dur: number) => ({ ph: "X", name, pid: 1, tid, ts, dur });
  const flow = (ph: string, tid: number, ts: number) => ({
    ph,
    name: "flow",
    cat: "mine",
    id: 1,
    pid: 1,
    tid,
    ts,
    bp: "e",
  });
  const events = [at("sender", 1, 0, 50), at("receiver", 2, 60, 50), flow("s", 1, 20), flow("f", 2, 80)];
  await drop(page, [{ name: "flows.json", bytes: Buffer.from(JSON.stringify(events)) }]);
  await view(page, "timeline");
  await page.getByLabel("Search").fill("sender");
  await page.getByLabel("Search").press("Enter");
  const details = page.locator("[data-event]");
  await details.locator("[data-relation='flow_to'] button").click();
  await expect(details.locator("h2")).toHaveText("receiver");
  await expect(details.locator("[data-relation='flow_from']")).toContainText("sender");
});
