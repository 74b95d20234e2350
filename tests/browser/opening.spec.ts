// All ways to open a trace, and traces that cannot be read.

import { readFileSync, readdirSync } from "node:fs";
import { own } from "./files";
import { drop, expect, open, sampleTrace, stepsTrace, test } from "./page";
import { host } from "./server";

test("files are opened with the file chooser", { tag: "@smoke" }, async ({ opened: page }) => {
  await open(page, stepsTrace);
  await expect(page.locator(".trace-name")).toHaveText("trace.json.gz");
  await expect(page.locator("[data-card=steps]")).toBeVisible();
});

test("dropped files replace the open trace", async ({ opened: page }) => {
  await drop(page, [{ name: "one.json.gz", bytes: readFileSync(stepsTrace) }]);
  await expect(page.locator(".trace-name")).toHaveText("one.json.gz");
  await drop(page, [{ name: "two.json.gz", bytes: readFileSync(sampleTrace) }]);
  await expect(page.locator(".trace-name")).toHaveText("two.json.gz");
});

test("the sample opens, and opens again from the address", { tag: "@smoke" }, async ({ opened: page }) => {
  await page.getByRole("button", { name: "Try the sample" }).click();
  await expect(page.locator("nav")).toBeVisible();
  await page.locator("nav [data-view=operators]").click();
  await page.reload();
  await expect(page.locator("main[data-view=operators] .row").first()).toBeVisible();
});

test("every kind of input opens", { tag: "@smoke" }, async ({ opened: page }) => {
  const healthy = readdirSync(own("healthy")).map((name) => own(`healthy/${name}`));
  for (const file of [
    ...healthy,
    own("snapshots/small-protocol-4.pickle"),
    own("torch/legacy/memory_on/records.json.gz"),
  ]) {
    await open(page, file);
    await expect(page.locator("[data-panel=data-quality]"), file).toBeVisible();
  }
});

test("the readable part of a damaged trace is shown", async ({ opened: page }) => {
  const whole = readFileSync(stepsTrace);
  const cut = whole.subarray(0, whole.length * 0.6);
  await drop(page, [{ name: "cut.json.gz", bytes: cut }]);
  await expect(page.locator(".banner.warning")).toBeVisible();
  await page.locator(".banner.warning a").click();
  await expect(page.locator("[data-diagnostic=compressed_cut]")).toBeVisible();
  await expect(page.locator("[data-panel=data-quality]")).toBeInViewport();
});

test("a file that is not a trace is refused with a reason", async ({ opened: page }) => {
  const bad: [string, Buffer, string][] = [
    ["empty.json", Buffer.alloc(0), "empty"],
    ["page.html", Buffer.from("<!doctype html><p>404"), "not_a_trace"],
    ["text.json", Buffer.from("hello"), "not_a_trace"],
  ];
  for (const [name, bytes, code] of bad) {
    await drop(page, [{ name, bytes }]);
    const failure = page.locator(`[data-failure=${code}]`);
    await expect(failure).toContainText(name);
    await page.locator(".failures button").click();
    await expect(failure).toHaveCount(0);
  }
});

test("a bad file does not prevent other files from opening", async ({ opened: page }) => {
  await drop(page, [
    { name: "good.json.gz", bytes: readFileSync(stepsTrace) },
    { name: "bad.json", bytes: Buffer.from("hello") },
  ]);
  await expect(page.locator("nav")).toBeVisible();
  await expect(page.locator("[data-failure=not_a_trace]")).toContainText("bad.json");
});

test("reading can be cancelled", async ({ opened: page }) => {
  // The file is large enough that it is still being read when its progress was looked at.
  const event = `{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":1},`;
  await page.evaluate((text) => {
    const part = new Blob([text.repeat(20_000)]);
    const file = new File([`{"traceEvents":[`, ...Array.from({ length: 400 }, () => part)], "long.json");
    const transfer = new DataTransfer();
    transfer.items.add(file);
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
  }, event);
  const reading = page.locator("[data-reading='long.json']");
  await expect(reading.locator("[data-preview=wall]")).toBeVisible();
  await expect(reading).toContainText("events");
  await expect(reading).toContainText("/s");
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("button", { name: "Choose files" })).toBeVisible();
  await open(page, stepsTrace);
});

// A page opened from a file cannot load addresses.
test.describe("addresses", { tag: "@http" }, () => {
  test("of this site, in the query and in the form", async ({ opened: page, site }) => {
    await page.goto(`${site.url}?trace=given/trace.json.gz`);
    await expect(page.locator(".trace-name")).toHaveText("trace.json.gz");
    await page.locator("nav [data-view=steps]").click();
    await page.reload();
    await expect(page.locator("main[data-view=steps]")).toBeVisible();
    await page.goto(site.url);
    await page.getByLabel("Address of a trace").fill(`${site.url}given/trace.json.gz`);
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await expect(page.locator(".trace-name")).toHaveText("trace.json.gz");
  });

  test("a missing file gives an error", async ({ page, site }) => {
    await page.goto(`${site.url}?trace=nothing.json`);
    await expect(page.getByRole("alert")).toContainText("404");
  });

  test("of another site, on a page that can only connect to that site", async ({ page, site }) => {
    const other = await host(own("torch/kineto/mlp_training"), { headers: { "access-control-allow-origin": "*" } });
    const third = await host(own("torch/kineto/mlp_training"), { headers: { "access-control-allow-origin": "*" } });
    await page.goto(site.url);
    const strict = await page.evaluate(
      (url) =>
        fetch(url).then(
          () => "loaded",
          () => "refused",
        ),
      `${other.url}trace.json.gz`,
    );
    expect(strict).toBe("refused");
    await page.getByLabel("Address of a trace").fill(`${other.url}trace.json.gz`);
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await expect(page.locator(".trace-name")).toHaveText("trace.json.gz");
    const elsewhere = await page.evaluate(
      (url) =>
        fetch(url).then(
          () => "loaded",
          () => "refused",
        ),
      `${third.url}trace.json.gz`,
    );
    expect(elsewhere).toBe("refused");
    expect(third.requested).toEqual([]);
    await other.close();
    await third.close();
  });
});

test("files are ranks, two runs, or the user chooses", async ({ opened: page }) => {
  const bytes = readFileSync(stepsTrace);
  await drop(
    page,
    ["rank0.json.gz", "rank1.json.gz"].map((name) => ({ name, bytes })),
  );
  await expect(page.locator("[data-panel=ranks]")).toBeVisible();
  await expect(page.locator(".trace-chooser option").first()).toContainText("Rank 0");
  await drop(
    page,
    ["a.json.gz", "b.json.gz", "c.json.gz"].map((name) => ({ name, bytes })),
  );
  await page.getByRole("button", { name: "Ranks of one run" }).click();
  await expect(page.locator("[data-panel=ranks]")).toBeVisible();
  await drop(
    page,
    ["a.json.gz", "b.json.gz"].map((name) => ({ name, bytes })),
  );
  await page.locator("nav [data-view=compare]").click();
  // The two files are the same.
  await expect(page.locator("[data-verdict=equal]")).toBeVisible();
});
