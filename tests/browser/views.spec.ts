// Every view on real traces of every kind: it shows the numbers that the command line prints.

import { NO_CORPUS, own, realTraces, rowsOf, tryRowsOf, type Real } from "./files";
import { expect, open, rowsIn, sampleTrace, savedBy, settled, stepsTrace, test, view, visit } from "./page";
import type { Page } from "@playwright/test";

const real = realTraces();

if (real.length === 0) test("real traces", () => test.skip(true, NO_CORPUS));

const traces: Real[] = [
  { of: "sample with modules and memory", files: [sampleTrace] },
  { of: "sample with steps", files: [stepsTrace] },
  ...real,
];

type Row = Record<string, string | number | null | object>;

/** Whether a view reports that the trace lacks its data. */
async function isMissing(page: Page, what: string): Promise<boolean> {
  await settled(page);
  return (await page.locator(`[data-missing=${what}]`).count()) > 0;
}

/** Checks that a table shows the rows of the command line, sorted by `sortKey`. */
async function showsRows(page: Page, label: string, expected: Row[], sortKey: string, keys: string[]): Promise<void> {
  const ordered = [...expected].sort((a, b) => Number(b[sortKey]) - Number(a[sortKey]));
  const shown = await rowsIn(page.locator(`.table-scroll[aria-label="${label}"]`));
  expect(shown.length).toBeGreaterThan(0);
  for (const [at, row] of shown.slice(0, 20).entries()) {
    for (const key of keys) expect(row[key], `${label}, row ${at}, ${key}`).toEqual(ordered[at]?.[key] ?? row[key]);
  }
  await expect(page.locator(".row-count").first()).toContainText(expected.length.toLocaleString("en-US"));
}

interface Timed {
  time_ns: number;
}

/** Checks that a panel shows times by cause or part; if the trace has none, there is no panel. */
async function showsGroups(page: Page, panel: string, expected: Timed[]): Promise<void> {
  const groups = page.locator(`[data-panel=${panel}] [data-group]`);
  await expect(groups).toHaveCount(expected.length);
  const shown = await groups.evaluateAll((all) => all.map((one) => one.getAttribute("data-exact") ?? ""));
  expect(shown.map((text) => Number(text.replaceAll(/[^\d]/g, "")))).toEqual(expected.map((row) => row.time_ns));
}

async function exactOf(page: Page, card: string): Promise<number> {
  const text = await page.locator(`[data-card="${card}"] .card-value`).getAttribute("data-exact");
  return Number((text ?? "").replaceAll(/[^\d-]/g, ""));
}

for (const { of, files } of traces) {
  test.describe(of, () => {
    // Run in order in one worker: the trace is opened once for all views.
    test.describe.configure({ mode: "default" });
    const [file] = files as [string];
    let page: Page;
    let faults: string[];

    test.beforeAll(async ({ browser, place, site }) => {
      page = await browser.newPage();
      faults = await visit(page, place, site);
      await open(page, ...files);
    });

    test.afterEach(() => expect(faults.splice(0)).toEqual([]));

    test.afterAll(() => page.close());

    test("overview", { tag: files[0] === sampleTrace ? "@smoke" : [] }, async () => {
      await view(page, "overview");
      await settled(page);
      const [summary] = rowsOf<{
        wall_ns: number;
        steps: number;
        devices: { busy_ns: number; sum_ns: number; idle_ns: number }[];
        findings: { code: string }[];
        fitness: { verdict: string }[];
        top_kernels: object[];
      }>("summary", file);
      const verdicts = summary?.fitness.map((one) => one.verdict).join(" ") ?? "";
      await expect(page.locator("[data-fitness]")).toHaveAttribute("data-fitness", verdicts);
      expect(await exactOf(page, "wall")).toBe(summary?.wall_ns);
      const [device] = summary?.devices ?? [];
      if (device)
        expect([await exactOf(page, "busy"), await exactOf(page, "sum"), await exactOf(page, "idle")]).toEqual([
          device.busy_ns,
          device.sum_ns,
          device.idle_ns,
        ]);
      await expect(page.locator("[data-panel=devices]")).toHaveCount(device ? 1 : 0);
      await expect(page.locator("[data-panel=findings] [data-finding]")).toHaveCount(
        Math.min(4, summary?.findings.length ?? 0),
      );
      const broken = rowsOf<{ holds: boolean | null }>("check", file).some((row) => row.holds === false);
      await expect(page.locator("[data-identities]")).toHaveAttribute("data-identities", broken ? "broken" : "holds");
      if (files.length > 1) await expect(page.locator("[data-panel=ranks] .row")).toHaveCount(files.length);
    });

    test("operators", async () => {
      await view(page, "operators");
      if (await isMissing(page, "operators")) return expect(rowsOf("ops", file)).toEqual([]);
      const rows = rowsOf<Row>("ops", file);
      const hasDevice = rows.some((row) => Number(row["self_device_time_total_ns"]) > 0);
      const sort = hasDevice ? "self_device_time_total_ns" : "self_cpu_time_total_ns";
      await showsRows(page, "Operators", rows, sort, [sort, "cpu_time_total_ns", "count"]);
      await page.locator("[data-group]").selectOption("shape");
      await settled(page);
      await expect(page.locator(".row-count")).toContainText(
        rowsOf("ops", file, "--group-by", "shape").length.toLocaleString("en-US"),
      );
      const first = page.locator("[aria-label=Operators] .row").first();
      const [shown] = await rowsIn(page.locator("[aria-label=Operators]"));
      await first.locator("[data-key=name]").click();
      await expect(page.locator("[data-instances]")).toHaveAttribute("data-instances", String(shown?.["count"]));
    });

    test("kernels", async () => {
      await view(page, "kernels");
      const rows = rowsOf<Row>("kernels", file);
      if (await isMissing(page, "kernels")) return expect(rows).toEqual([]);
      await showsRows(page, "Kernels", rows, "sum_ns", ["sum_ns", "mean_ns", "min_ns", "max_ns", "count"]);
      await page.locator("[aria-label=Kernels] .row [data-key=class]").first().click();
      await expect(page.locator("[data-instances]")).toHaveAttribute("data-instances", String(rows[0]?.["count"]));
      const saved = await savedBy(page, page.getByRole("button", { name: "JSON", exact: true }));
      expect((JSON.parse(saved.text) as { rows: Row[] }).rows).toEqual(rows);
    });

    test("timeline", async () => {
      await view(page, "timeline");
      await settled(page);
      const tracks = rowsOf<{ spans: number; process: string; kind: string }>("tracks", file).filter(
        (row) => row.spans > 0,
      );
      await expect(page.locator(".track-label")).toHaveCount(tracks.length);
      const counters = rowsOf<{ points: number }>("counters", file).filter((row) => row.points > 0);
      await expect(page.locator(".counter-label")).toHaveCount(counters.length);
      const drawn = page.locator("canvas.timeline-canvas");
      const colors = () =>
        drawn.evaluate((canvas: HTMLCanvasElement) => {
          // The poll may read more than once. Chromium warns of that on the page's own canvas, so a copy is read.
          const copy = new OffscreenCanvas(canvas.width, canvas.height);
          const context = copy.getContext("2d", { willReadFrequently: true }) as OffscreenCanvasRenderingContext2D;
          context.drawImage(canvas, 0, 0);
          const { data } = context.getImageData(0, 0, copy.width, copy.height);
          const seen = new Set<number>();
          for (let at = 0; at < data.length; at += 4 * 97)
            seen.add(((data[at] as number) << 16) | ((data[at + 1] as number) << 8) | (data[at + 2] as number));
          return seen.size;
        });
      await expect.poll(colors).toBeGreaterThan(4);
    });

    test("call tree", async () => {
      await view(page, "flame");
      await settled(page);
      const lane = await page.locator("[data-track-chooser] option:checked").textContent();
      const rows = rowsOf<{
        lane: string;
        depth: number | null;
        name: string;
        total_ns: number;
        device_total_ns: number;
      }>("tree", file, "--depth", "1").filter((row) => row.lane === lane && row.depth === 0);
      const shown = await rowsIn(page.locator("[aria-label='Call tree']"));
      expect({ name: shown[0]?.["name"], total: shown[0]?.["total"] }).toEqual({
        name: expect.stringContaining(rows[0]?.name ?? ""),
        total: rows[0]?.total_ns,
      });
      await page.locator("[data-tab=bottom-up]").click();
      await settled(page);
      const most = rowsOf<{ lane: string; depth: number | null; total_ns: number }>(
        "tree",
        file,
        "--bottom-up",
        "--depth",
        "1",
      ).find((row) => row.lane === lane && row.depth === 0);
      const [leaf] = await rowsIn(page.locator("[aria-label='Call tree']"));
      expect(leaf?.["total"]).toBe(most?.total_ns);
      await page.locator("[data-tab=time]").click();
      await settled(page);
      await expect(page.locator(".flame canvas")).toBeVisible();
    });

    test("memory", async () => {
      await view(page, "memory");
      const rows = rowsOf<{ kind: string; device: string; peak_bytes: number; allocated_bytes: number }>(
        "memory",
        file,
      );
      if (await isMissing(page, "memory")) return expect(rows).toEqual([]);
      await settled(page);
      const devices = rows
        .filter((row) => row.kind === "device")
        .sort((a, b) => Number(a.device === "CPU") - Number(b.device === "CPU"));
      const [device] = devices;
      expect(await exactOf(page, `${device?.device} Peak allocated`)).toBe(device?.peak_bytes);
      expect(await exactOf(page, `${device?.device} Total allocated`)).toBe(device?.allocated_bytes);
      await expect(page.locator(".u-over")).toBeVisible();
      if (devices.length > 1) await expect(page.getByRole("tab")).toHaveCount(devices.length);
    });

    test("modules", async () => {
      await view(page, "modules");
      const rows = rowsOf<Row>("modules", file);
      if (await isMissing(page, "modules")) return expect(rows).toEqual([]);
      const shown = await rowsIn(page.locator(".table-scroll[aria-label=Modules]"));
      for (const [at, row] of shown.slice(0, 15).entries()) {
        expect([row["cpu_time_total_ns"], row["count"]]).toEqual([
          rows[at]?.["cpu_time_total_ns"],
          rows[at]?.["count"],
        ]);
      }
      const all = await page.locator(".row-count").textContent();
      await page.locator("[aria-label=Modules] .twist[aria-expanded]").first().click();
      await expect(page.locator(".row-count")).not.toHaveText(all ?? "");
    });

    test("steps", async () => {
      await view(page, "steps");
      const rows = rowsOf<Row>("steps", file);
      if (await isMissing(page, "steps")) return expect(rows).toEqual([]);
      const shown = await rowsIn(page.locator(".table-scroll[aria-label=Steps]"));
      expect(shown.map((row) => [row["name"], row["wall_ns"], row["launched"]])).toEqual(
        rows.map((row) => [row["name"], row["wall_ns"], row["launched"]]),
      );
      await expect(page.locator(".u-over")).toBeVisible();
    });

    test("findings", async () => {
      await view(page, "findings");
      await settled(page);
      const [summary] = rowsOf<{ findings: object[]; devices: object[] }>("summary", file);
      await expect(page.locator("[data-panel=all-findings] [data-finding]")).toHaveCount(summary?.findings.length ?? 0);
      await expect(page.locator("[data-pattern]")).toHaveCount(rowsOf("patterns", file).length);
      await showsGroups(page, "idle-causes", rowsOf<Timed>("idle", file));
      await showsGroups(page, "critical-path", rowsOf<Timed>("critical-path", file));
      await expect(page.locator("[data-panel=what-if]")).toHaveCount(summary?.devices.length ? 1 : 0);
    });

    test("what if", async () => {
      await view(page, "findings");
      await settled(page);
      const panel = page.locator("[data-panel=what-if]");
      if ((await panel.count()) === 0) return;
      await panel.locator("[data-switch=graph] input").check();
      await panel.getByRole("slider", { name: "compute" }).fill("2");
      const rows = tryRowsOf<{ saving_ns: number }>("what-if", file, "--faster", "compute=2", "--cuda-graph");
      if (rows === undefined) return expect(panel.locator(".failure")).toBeVisible();
      await expect(panel.locator("[data-saving]")).toHaveAttribute("data-saving", String(rows.at(-1)?.saving_ns));
    });
  });
}

interface Compared {
  kind: string;
  name: string;
  change: string;
  contribution_ns: number | null;
  a_ns: number | null;
  b_ns: number | null;
  significant: boolean | null;
}

test("two runs are compared", async ({ opened: page }) => {
  const files = [own("pairs/base1.json.gz"), own("pairs/fused1.json.gz")] as const;
  await open(page, ...files);
  await view(page, "compare");
  await settled(page);
  const rows = rowsOf<Compared>("diff", ...files);
  const wall = rows.find(({ kind, name }) => kind === "total" && name === "wall");
  await expect(page.locator("[data-card='total wall'] [data-exact]")).toHaveAttribute(
    "data-exact",
    new RegExp(String(wall?.b_ns?.toLocaleString("en-US"))),
  );
  const significant = rows.filter((row) => row.significant && !["total", "phase"].includes(row.kind));
  await expect(page.locator("[data-verdict]")).toHaveAttribute("data-verdict", String(significant.length));
  const shown = await rowsIn(page.locator("[aria-label=Comparison]"));
  for (const [at, row] of shown.slice(0, 10).entries()) {
    const { name, change, a_ns, contribution_ns } = significant[at] as Compared;
    // The page shows words with blanks.
    expect([row["name"], row["change"], row["a"], row["contribution"]]).toEqual([
      name,
      change.replaceAll("_", " "),
      a_ns,
      Math.abs(contribution_ns ?? 0),
    ]);
  }
  await expect(page.locator("[data-panel=waterfall] [data-bar]").first()).toHaveAttribute("data-bar", "A");
  await page.locator("[data-panel=waterfall] [data-bar='1 other row'], [data-bar$='other rows']").first().waitFor();
  await page.getByLabel("Verdict").selectOption("change");
  expect(page.url()).toContain("certainty=change");
  const saved = await savedBy(page, page.getByRole("button", { name: "JSON", exact: true }));
  expect(JSON.parse(saved.text)).toHaveLength(significant.length);
  await page.getByRole("button", { name: "Exchange A and B" }).click();
  await settled(page);
  await expect(page.locator("[data-side=a]")).toHaveValue("1");
  await expect(page.locator("[aria-label=Comparison] .row").first()).toBeVisible();
});

test("more than two runs are compared in a matrix", async ({ opened: page }) => {
  await open(page, ...["base1", "base2", "host_sleep1"].map((name) => own(`pairs/${name}.json.gz`)));
  await view(page, "compare");
  const cell = page.locator("[data-panel=matrix] [data-pair='0 2'] button");
  await expect(cell).toContainText("1 change");
  await expect(page.locator("[data-panel=matrix] [data-pair='0 1'] button")).toContainText("0 changes");
  await cell.click();
  await settled(page);
  await expect(page.locator("[data-side=b]")).toHaveValue("2");
  await expect(page.locator("[aria-label=Comparison] .row").first()).toContainText("host_work");
});
