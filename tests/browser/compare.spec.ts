// Compare: the timelines of two runs, locked by step.

import type { Locator, Page } from "@playwright/test";
import { own, rowsOf } from "./files";
import { expect, open, settled, test, view } from "./page";

const [A, B] = [own("pairs/base1.json.gz"), own("pairs/fused1.json.gz")];

interface Step {
  name: string;
  start_ns: number;
  wall_ns: number;
}

/** What a side shows: its visible time and the start of its step. */
interface Shown {
  start: number;
  end: number;
  origin: number;
}

const side = (page: Page, name: "a" | "b"): Locator => page.locator(`[data-panel=timelines] [data-paired=${name}]`);

/** Returns what both sides show at one time: it changes while they move. */
const both = (page: Page): Promise<{ a: Shown; b: Shown }> =>
  page.locator("[data-panel=timelines]").evaluate((panel) => {
    const of = (name: string): Shown => {
      const { start, end, origin } = panel.querySelector<HTMLElement>(`[data-paired=${name}]`)?.dataset ?? {};
      return { start: Number(start), end: Number(end), origin: Number(origin) };
    };
    return { a: of("a"), b: of("b") };
  });

const shown = async (page: Page, name: "a" | "b"): Promise<Shown> => (await both(page))[name];

const length = ({ start, end }: Shown): number => end - start;

/** Checks that both sides show the same time after the starts of their steps. Returns its length. */
async function lockedLength(page: Page): Promise<number> {
  const { a, b } = await both(page);
  expect(Math.abs(a.start - a.origin - (b.start - b.origin))).toBeLessThan(1);
  expect(Math.abs(length(a) - length(b))).toBeLessThan(1);
  return length(a);
}

async function compare(page: Page): Promise<{ a: Step[]; b: Step[] }> {
  await open(page, A, B);
  await view(page, "compare");
  await settled(page);
  await page.locator("[data-panel=timelines]").scrollIntoViewIfNeeded();
  return { a: rowsOf<Step>("steps", A), b: rowsOf<Step>("steps", B) };
}

test("timelines are locked by step, at the same scale", { tag: "@smoke" }, async ({ opened: page }) => {
  const steps = await compare(page);
  const expectStep = async (at: number): Promise<void> => {
    const [a, b] = [steps.a[at] as Step, steps.b[at] as Step];
    expect((await shown(page, "a")).origin).toBe(a.start_ns);
    expect((await shown(page, "b")).origin).toBe(b.start_ns);
    await expect(side(page, "a").locator("[data-duration]")).toHaveAttribute("data-duration", String(a.wall_ns));
    await expect(side(page, "b").locator("[data-duration]")).toHaveAttribute("data-duration", String(b.wall_ns));
    const difference = side(page, "b").locator("[data-difference]");
    await expect(difference).toHaveAttribute("data-difference", String(b.wall_ns - a.wall_ns));
    const longest = Math.max(a.wall_ns, b.wall_ns);
    expect(await lockedLength(page)).toBeGreaterThan(longest);
    expect(await lockedLength(page)).toBeLessThan(longest * 1.1);
  };
  await expectStep(0);
  await page.getByRole("button", { name: "Next step" }).click();
  await expect(page).toHaveURL(/step=2/);
  await expectStep(1);
  await page.locator("[data-panel=timelines] select").selectOption("4");
  await expect(page).toHaveURL(/step=5/);
  await expectStep(4);
  await page.getByRole("button", { name: "Previous step" }).click();
  await expectStep(3);
});

test("zoom and movement act on both timelines, and the address restores them", async ({ opened: page }) => {
  const { a } = await compare(page);
  const whole = await lockedLength(page);
  const canvas = await side(page, "b").locator("canvas").boundingBox();
  if (!canvas) throw new Error("no canvas");
  const [x, y] = [canvas.x + canvas.width / 2, canvas.y + 60];
  await page.mouse.move(x, y);
  await page.keyboard.down("Control");
  for (let turn = 0; turn < 4; turn += 1) await page.mouse.wheel(0, -120);
  await page.keyboard.up("Control");
  await expect.poll(() => lockedLength(page)).toBeLessThan(whole * 0.5);
  const zoomed = await shown(page, "a");
  await page.mouse.down();
  await page.mouse.move(x - 150, y, { steps: 4 });
  await page.mouse.up();
  expect((await shown(page, "a")).start).toBeGreaterThan(zoomed.start + length(zoomed) * 0.05);
  await lockedLength(page);
  await page.keyboard.press("s");
  await expect.poll(() => lockedLength(page)).toBeGreaterThan(length(zoomed) * 1.5);
  await page.getByRole("button", { name: "Next step" }).click();
  await expect(page).toHaveURL(/start=\d+&end=\d+&step=2|step=2&start=\d+&end=\d+/);
  const kept = await shown(page, "b");
  await view(page, "overview");
  await page.goBack();
  await settled(page);
  expect((await shown(page, "a")).origin).toBe(a[1]?.start_ns);
  const restored = await shown(page, "b");
  expect(restored.origin).toBe(kept.origin);
  expect(Math.abs(restored.start - kept.start)).toBeLessThan(2);
  expect(Math.abs(restored.end - kept.end)).toBeLessThan(2);
  await page.locator("[data-panel=timelines]").getByRole("button", { name: "Show all" }).click();
  await expect(page).not.toHaveURL(/start=/);
  expect(await lockedLength(page)).toBeGreaterThan(whole * 0.9);
});

test("a span under the pointer is highlighted on the other side, and a click opens it", async ({ opened: page }) => {
  const { b } = await compare(page);
  const box = await side(page, "b").locator("canvas").boundingBox();
  const label = await side(page, "b").locator(".track-label").first().boundingBox();
  if (!box || !label) throw new Error("no canvas");
  const pixels = (): Promise<string> =>
    side(page, "a")
      .locator("canvas")
      .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  await page.waitForTimeout(300);
  const before = await pixels();
  const step = b[0] as Step;
  const { start, end } = await shown(page, "b");
  const x = box.x + ((step.start_ns + step.wall_ns / 2 - start) / (end - start)) * box.width;
  await page.mouse.move(x, label.y + 9);
  const tip = page.locator("[data-panel=timelines] .tip b");
  await expect(tip).toHaveText(step.name);
  await expect(page.locator(".pair-tip")).toContainText("A 1 ×");
  await expect.poll(pixels).not.toBe(before);
  await page.mouse.click(x, label.y + 9);
  await expect(page.locator("main[data-view=timeline]")).toBeVisible();
  await expect(page.locator(".trace-chooser select")).toHaveValue("1");
  await expect(page.locator("[data-event] h2")).toHaveText(step.name);
  await expect(page.locator("[data-event] [data-duration]")).toHaveAttribute("data-duration", String(step.wall_ns));
});

test("a row of the comparison is found on both timelines", async ({ opened: page }) => {
  await compare(page);
  const name = page.locator("[aria-label=Comparison] .row [data-key=name] button").first();
  const text = (await name.textContent()) ?? "";
  const many = (file: string): number =>
    rowsOf<{ name: string; count: number }>("names", file)
      .filter((row) => row.name.toLowerCase().includes(text.toLowerCase()))
      .reduce((sum, row) => sum + row.count, 0);
  await name.click();
  await expect(page.getByLabel("Find on both")).toHaveValue(text);
  await expect(page.locator("[data-panel=timelines] .row-count")).toHaveText(`A ${many(A)}, B ${many(B)} matches`);
});

test("traces without steps are compared completely", async ({ opened: page }) => {
  await open(page, own("healthy/small_gpu_trace.json"), own("torch/kineto/transformer_training/trace.json.gz"));
  await page.locator("nav [data-view=compare]").click();
  await settled(page);
  await expect(page.getByRole("button", { name: "Next step" })).toHaveCount(0);
  expect((await shown(page, "a")).origin).toBe(0);
  await lockedLength(page);
});

/** The colours of the canvas of the flame graph, by how often they occur. */
const colours = (page: Page): Promise<Map<string, number>> =>
  page
    .locator("[data-panel=diff-flame] canvas")
    .evaluate((canvas: HTMLCanvasElement) => {
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
      copy?.drawImage(canvas, 0, 0);
      const data = copy?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      const counts: Record<string, number> = {};
      for (let at = 0; at < data.length; at += 4) {
        const colour = `${data[at]} ${data[at + 1]} ${data[at + 2]}`;
        counts[colour] = (counts[colour] ?? 0) + 1;
      }
      return Object.entries(counts);
    })
    .then((entries) => new Map(entries));

/** The colour of a variable of the styles, as `colours` writes it. */
const colourOf = (page: Page, name: string): Promise<string> =>
  page.evaluate((variable) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).join(" ");
  }, name);

test("the call tree of both is red where B takes longer, and blue where it takes less", async ({ opened: page }) => {
  await open(page, A, own("pairs/host_sleep1.json.gz"));
  await view(page, "compare");
  await settled(page);
  const panel = page.locator("[data-panel=diff-flame]");
  await panel.scrollIntoViewIfNeeded();
  const [red, blue] = [await colourOf(page, "--shade-8"), await colourOf(page, "--shade-0")];
  // 5 ms of 24 ms of each step are new in B: a box of a fifth of the width.
  await expect.poll(async () => (await colours(page)).get(red) ?? 0).toBeGreaterThan(1000);
  expect((await colours(page)).get(blue) ?? 0).toBe(0);
  // With the sides exchanged the same is gone: it has the widths of A.
  await page.getByRole("button", { name: "Exchange A and B" }).click();
  await panel.getByRole("tab", { name: "Widths of A" }).click();
  await expect.poll(async () => (await colours(page)).get(blue) ?? 0).toBeGreaterThan(1000);
  expect((await colours(page)).get(red) ?? 0).toBe(0);
  await expect(page).toHaveURL(/widths=a/);
});

test("a click in the call tree of both zooms in, and the address keeps it", async ({ opened: page }) => {
  await open(page, A, B);
  await view(page, "compare");
  await settled(page);
  const canvas = page.locator("[data-panel=diff-flame] canvas");
  await canvas.scrollIntoViewIfNeeded();
  await canvas.hover({ position: { x: 60, y: 30 } });
  const tip = page.locator("[data-panel=diff-flame] [role=status]");
  await expect(tip).toContainText("→");
  const name = (await tip.locator("b").textContent()) as string;
  await canvas.click({ position: { x: 60, y: 30 } });
  await expect.poll(() => new URL(page.url()).hash).toContain(encodeURIComponent(name).replaceAll("%20", "+"));
  const box = await canvas.boundingBox();
  await canvas.hover({ position: { x: (box?.width ?? 0) - 10, y: 30 } });
  await expect(tip.locator("b")).toHaveText(name);
});
