// SQL: queries about the open traces, the library, and what the database may not do.

import { readFileSync, readdirSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { own, root, rowsOf } from "./files";
import { expect, open, rowsIn, savedBy, test, view, violations, visit } from "./page";

const trace = own("torch/cuda/mlp/trace.json.gz");
const folder = `${root}native/tables/queries`;
const library = readdirSync(folder).map((file) => file.replace(".sql", ""));

const editor = (page: Page): Locator => page.locator(".sql textarea");
const table = (page: Page): Locator => page.locator('.table-scroll[aria-label="Answer"]');

async function opened(page: Page, ...files: string[]): Promise<void> {
  await open(page, ...files);
  await view(page, "sql");
  await expect(editor(page)).toBeVisible();
}

/** Starts queries and waits for their end. */
async function ending(page: Page, queries: number, start: () => Promise<void>): Promise<void> {
  const count = page.locator("[data-ended]");
  const before = Number(await count.getAttribute("data-ended"));
  await start();
  await expect(count).toHaveAttribute("data-ended", String(before + queries), { timeout: 60_000 });
}

/** Runs a query and waits for its end. */
async function end(page: Page, sql: string): Promise<void> {
  await ending(page, 1, async () => {
    await editor(page).fill(sql);
    await editor(page).press("Control+Enter");
  });
}

/** Runs a query and returns the number of its rows. */
async function run(page: Page, sql: string): Promise<number> {
  await end(page, sql);
  return Number(await page.locator("[data-rows]").getAttribute("data-rows"));
}

/** Runs a query that fails, and returns the message. */
async function refused(page: Page, sql: string): Promise<string> {
  await end(page, sql);
  return (await page.locator(".sql-failure").textContent()) ?? "";
}

/** The shown rows by the names of the columns. */
async function shown(page: Page): Promise<Record<string, string | number>[]> {
  const rows = await rowsIn(table(page));
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([key, value]) => [key.replace(/^\d+ /, ""), value])),
  );
}

test("the database is loaded with the first query @http", async ({ opened: page, site }) => {
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  const duckdb = (): string[] => requests.filter((url) => url.includes("duckdb"));
  await opened(page, trace);
  expect(duckdb()).toEqual([]);
  expect(await violations(page)).toEqual([]);
  expect(await run(page, "SELECT COUNT(*) AS n, SUM(dur_ns) AS sum_ns FROM kernels")).toBe(1);
  expect(duckdb().length).toBe(2);
  for (const url of duckdb()) expect(url).toContain(`${site.url}sql/`);
  const kernels = rowsOf<{ sum_ns: number; count: number }>("kernels", trace);
  expect(await shown(page)).toEqual([
    { n: kernels.reduce((sum, row) => sum + row.count, 0), sum_ns: kernels.reduce((sum, row) => sum + row.sum_ns, 0) },
  ]);
  expect(await violations(page)).toEqual([]);
});

test("every query of the library has an answer @http", async ({ opened: page }) => {
  await opened(page, trace);
  const chooser = page.getByLabel("Library");
  for (const name of library) {
    await ending(page, 1, async () => void (await chooser.selectOption(name)));
    await expect(editor(page)).toHaveValue(readFileSync(`${folder}/${name}.sql`, "utf8").trim());
    await expect(page.locator(".sql-failure"), name).toHaveCount(0);
    await expect(page.locator("[data-rows]"), name).toBeVisible();
  }
  await ending(page, 1, async () => void (await chooser.selectOption("kernels")));
  const kernels = rowsOf<{ name: string; sum_ns: number }>("kernels", trace);
  const expected = kernels.map(({ name, sum_ns }) => ({ name, sum_ns }));
  const rows = (await shown(page)).map(({ name, sum_ns }) => ({ name, sum_ns }));
  expect(rows.slice(0, 10)).toEqual(expected.slice(0, 10));
});

test("queries that are started during another one are answered in turn @http", async ({ opened: page }) => {
  await opened(page, trace);
  const chooser = page.getByLabel("Library");
  await ending(page, 4, async () => {
    for (const name of ["tracks", "ops", "findings", "collectives"]) await chooser.selectOption(name);
  });
  await expect(page.locator(".sql-failure")).toHaveCount(0);
  expect(await page.locator("[data-rows]").getAttribute("data-rows")).toBe("0");
  expect(await run(page, "SELECT 1 AS a")).toBe(1);
});

test("views have the columns of other tools @http", async ({ opened: page }) => {
  await opened(page, trace);
  expect(await run(page, "SELECT s.name, s.dur FROM slice s JOIN thread_track t ON s.track_id = t.id LIMIT 5")).toBe(5);
  expect(await run(page, 'SELECT "index", s_name, index_correlation FROM hta WHERE stream >= 0')).toBeGreaterThan(0);
  expect(await run(page, "SELECT string_value FROM args WHERE key = 'args.Input Dims'")).toBeGreaterThan(0);
});

test("ranks are kept apart @http", async ({ opened: page }) => {
  await opened(page, own("runs/plain/rank0.json.gz"), own("runs/plain/rank1.json.gz"));
  await run(page, "SELECT rank, COUNT(*) AS n, COUNT(DISTINCT run_id) AS runs FROM traces GROUP BY rank ORDER BY rank");
  expect(await shown(page)).toEqual([
    { rank: 0, n: 1, runs: 1 },
    { rank: 1, n: 1, runs: 1 },
  ]);
});

test("mistakes are explained, and the next query runs @http", async ({ opened: page }) => {
  await opened(page, trace);
  expect(await refused(page, "SELECT nam FROM events")).toContain('Candidate bindings: "name"');
  expect(await refused(page, "SELEC 1")).toContain("syntax error");
  expect(await run(page, "SELECT 1 AS one")).toBe(1);
});

test("the database reaches no file and no server @http", async ({ opened: page, site }) => {
  await opened(page, trace);
  await run(page, "SELECT 1 AS one");
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  expect(await refused(page, `SELECT * FROM '${site.url}given/trace.json.gz'`)).toMatch(/does not exist/);
  expect(await refused(page, `SELECT * FROM read_csv('${site.url}index.html')`)).toMatch(/disabled|Permission/i);
  // There is nothing to install in WebAssembly; loading is what would fetch.
  await end(page, "INSTALL httpfs");
  expect(await refused(page, "LOAD httpfs")).toMatch(/disabled|Permission/i);
  expect(await refused(page, "SET enable_external_access = true")).toMatch(/locked|Cannot/i);
  expect(requests).toEqual([]);
});

test("queries cannot change the tables @http", async ({ opened: page }) => {
  await opened(page, trace);
  const sum = "SELECT COUNT(*) AS n, SUM(dur_ns) AS sum_ns FROM kernels";
  await run(page, sum);
  const before = await shown(page);
  for (const change of ["UPDATE kernels SET dur_ns = 1", "DELETE FROM kernels", "DROP TABLE kernels"]) {
    expect(await refused(page, change)).toContain("read-only");
  }
  // It ends with the statement.
  await end(page, "CREATE TEMP TABLE kernels AS SELECT 1 AS dur_ns");
  await end(page, "COMMIT");
  await end(page, "BEGIN");
  expect(await refused(page, "SELECT 1; SELECT 2")).toContain("multiple statements");
  await run(page, sum);
  expect(await shown(page)).toEqual(before);
  await page.locator("input[type=file]").first().setInputFiles(own("torch/cuda/nccl/trace.json.gz"));
  // The view of the first trace stays until the second is read.
  await expect(page.locator("[data-ended='0']")).toBeVisible();
  await run(page, sum);
  expect(await shown(page)).not.toEqual(before);
});

test.describe("without a service worker", () => {
  // Requests of a service worker cannot be intercepted.
  test.use({ serviceWorkers: "block" });

  test("a failed load is an error, and the next query tries again @http", async ({ page, site, place }) => {
    await visit(page, place, site);
    await opened(page, trace);
    for (const file of ["duckdb-eh", "duckdb-browser"]) {
      await page.route(`**/${file}*`, (route) => route.fulfill({ status: 404 }));
      expect(await refused(page, "SELECT 1 AS one")).toContain("404");
      await page.unroute(`**/${file}*`);
    }
    await page.route("**/duckdb-browser*", (route) => route.fulfill({ body: "throw new Error('no worker')" }));
    expect(await refused(page, "SELECT 1 AS one")).toContain("no worker");
    await page.unroute("**/duckdb-browser*");
    expect(await run(page, "SELECT 1 AS one")).toBe(1);
  });
});

test("names in quotation marks are found @http", async ({ opened: page }) => {
  await opened(page, trace);
  for (const sql of [
    'SELECT COUNT(*) AS "a--b" FROM kernels',
    "SELECT name AS \"it's\" FROM ops WHERE name = 'x' OR 1 = 1 LIMIT 1",
    "SELECT $$--$$ AS a, COUNT(*) FROM steps",
    "SELECT COUNT(*) FROM query_table('tracks')",
    "SELECT $$--$$ AS a, COUNT(*) FROM hta",
  ]) {
    expect(await run(page, sql), sql).toBe(1);
  }
});

test("values of every type are readable @http", async ({ opened: page }) => {
  await opened(page, trace);
  await run(
    page,
    `SELECT DATE '2024-01-02' AS d, TIMESTAMP '2024-01-02 03:04:05' AS t, INTERVAL 3 DAY AS i, [1.25::DECIMAL(5,2)] AS l,
      {'x': 1} AS s, 1.5::DECIMAL(4,1) AS n, 12345678901234567.891::DECIMAL(20,3) AS long, '\\xAA'::BLOB AS b, TRUE AS yes,
      NULL AS nothing, 18446744073709551615::UBIGINT AS most, 'a,"b"' AS text, 2 AS d;`,
  );
  const { text } = await savedBy(page, page.locator(".sql").getByRole("button", { name: "CSV" }));
  expect(text).toBe(
    "d,t,i,l,s,n,long,b,yes,nothing,most,text,d_1\r\n" +
      "2024-01-02,2024-01-02 03:04:05,3 days,[1.25],{'x': 1},1.5,12345678901234567.891,\\xAA,true,,18446744073709551615," +
      '"a,""b""",2\r\n',
  );
});

test("a query is cancelled @http", async ({ opened: page }) => {
  await opened(page, trace);
  await run(page, "SELECT 1 AS one");
  await editor(page).fill("SELECT SUM(a.range * b.range) FROM range(10000000) a, range(10000000) b");
  await editor(page).press("Control+Enter");
  await page.locator(".sql").getByRole("button", { name: "Cancel" }).click();
  expect(await run(page, "SELECT COUNT(*) AS n FROM tracks")).toBe(1);
});

test("the address has the query, and a file all rows @http", async ({ opened: page }) => {
  await opened(page, trace);
  await run(page, "SELECT name, dur_ns FROM kernels ORDER BY dur_ns DESC, name");
  const { name, text } = await savedBy(page, page.locator(".sql").getByRole("button", { name: "CSV" }));
  expect(name).toBe("answer.csv");
  const kernels = rowsOf<{ count: number }>("kernels", trace).reduce((sum, row) => sum + row.count, 0);
  expect(text.trimEnd().split("\n").length).toBe(kernels + 1);
  expect(text).toMatch(/^name,dur_ns\r\n/);
  await run(page, "SELECT 2 AS two");
  await page.goBack();
  await expect(editor(page)).toHaveValue("SELECT name, dur_ns FROM kernels ORDER BY dur_ns DESC, name");
  await editor(page).fill("SELECT 3");
  await view(page, "overview");
  await view(page, "sql");
  await expect(editor(page)).toHaveValue("SELECT 3");
});

test("a click inserts the name of a column, and an event leads to the timeline @http", async ({ opened: page }) => {
  await opened(page, trace);
  await editor(page).fill("SELECT  FROM kernels ORDER BY dur_ns DESC");
  await editor(page).evaluate((area: HTMLTextAreaElement) => area.setSelectionRange(7, 7));
  await page.locator("[data-table=kernels] summary").click();
  await page.locator("[data-table=kernels]").getByRole("button", { name: "event", exact: true }).click();
  await expect(editor(page)).toHaveValue("SELECT event FROM kernels ORDER BY dur_ns DESC");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await table(page).locator(".row a").first().click();
  await expect(page.locator("main[data-view=timeline]")).toBeVisible();
});

test("the page of one file says that it has no database @smoke", async ({ opened: page, place }) => {
  await open(page, trace);
  await view(page, "sql");
  if (place === "http") return expect(editor(page)).toBeVisible();
  await expect(page.locator("main")).toContainText("kinetoscope sql TRACE");
});
