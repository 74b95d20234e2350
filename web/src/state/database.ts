// The database of the open traces: it starts with the first query, and reads a table of the traces when a query names it.

import { arrow, runIdOf } from "kinetoscope/arrow";
import { TABLES, type TableName } from "kinetoscope/columns";
import { Database, type Rows } from "../engine/database";
import { MOST_BYTES, creating, distinctRuns, nameOf, readsOf, sizeOf, type Reads } from "../model/sql";
import { TEMPLATES, TEXTS } from "../strings";
import { relation, traces, type OpenTrace } from "./session";

const LABELS = TEXTS.sql;

const VIEWS = Object.fromEntries(
  Object.entries(
    import.meta.glob<string>("../../../native/tables/src/sql/views/*.sql", {
      query: "?raw",
      import: "default",
      eager: true,
    }),
  ).map(([path, sql]) => [nameOf(path), sql]),
);

/** The names of the views, with the columns of other tools. */
export const VIEW_NAMES = Object.keys(VIEWS);

let database: Promise<Database> | undefined;
/** The traces that the database has tables of, and these tables with their sizes. */
let held: { of: readonly OpenTrace[]; tables: Map<TableName, number> } = { of: [], tables: new Map() };

/** The end of the last query: the connection answers one at a time. */
let last: Promise<unknown> = Promise.resolve();

/** Ends the database, also during a query. The next query starts it again. */
export function endDatabase(): void {
  // A query of an ended database never ends.
  last = Promise.resolve();
  void database?.then((ended) => ended.end());
  database = undefined;
  held = { of: [], tables: new Map() };
}

/** An answer, and how long the query took, without reading tables. */
export interface Answered {
  rows: Rows;
  ms: number;
}

/** Answers a query about the open traces, after the queries before it. `onStage` receives what is done first. */
export function answer(sql: string, onStage: (stage: string) => void): Promise<Answered> {
  onStage(LABELS.running);
  const own = last.catch(() => undefined).then(() => answerNow(sql, onStage));
  last = own;
  return own;
}

async function answerNow(sql: string, onStage: (stage: string) => void): Promise<Answered> {
  if (!database) onStage(LABELS.starting);
  database ??= Database.start();
  const started = await database.catch((thrown: unknown) => {
    database = undefined;
    throw thrown;
  });
  if (held.of !== traces.value) {
    const former = [...held.tables.keys()];
    held = { of: traces.value, tables: new Map() };
    for (const table of former) await started.execute(`DROP TABLE IF EXISTS ${table} CASCADE`);
  }
  await provide(started, readsOf(sql, VIEWS), onStage);
  const tried = new Set<string>();
  for (;;) {
    onStage(LABELS.running);
    const start = performance.now();
    try {
      const rows = await started.run(sql);
      return { rows, ms: performance.now() - start };
    } catch (thrown) {
      // Names in quotation marks and the like are only known to the database.
      const missing = missingIn(thrown);
      const reads = readsOf(missing, VIEWS);
      if (reads.tables.length === 0 || tried.has(missing)) throw thrown;
      tried.add(missing);
      await provide(started, reads, onStage);
    }
  }
}

/** The name of the table that a query did not find. */
function missingIn(thrown: unknown): string {
  return /Table with name "?(\w+)"? does not exist/.exec(String(thrown))?.[1] ?? "";
}

/** Reads tables that were not read yet, and creates views. */
async function provide(into: Database, { tables, views }: Reads, onStage: (stage: string) => void): Promise<void> {
  for (const table of tables.filter((table) => !held.tables.has(table))) {
    onStage(TEMPLATES.readingTable(table));
    await read(into, table);
  }
  for (const view of views) await into.execute(`CREATE OR REPLACE VIEW ${view} AS ${VIEWS[view]}`);
}

/** Reads a table of all open traces. */
async function read(into: Database, table: TableName): Promise<void> {
  const { of, tables } = held;
  const rows = of.reduce((sum, { trace }) => sum + trace.length, 0);
  // No table has more rows than there are events, except those with a few rows per trace.
  const whole = sizeOf(table, rows) + [...tables.values()].reduce((sum, size) => sum + size, 0);
  if (table === "events" && whole > MOST_BYTES) throw new Error(TEMPLATES.tooLargeForSql(table, rows));
  await into.execute(creating(table));
  const ranks = of.map(({ info }, at) => info.rank ?? at);
  const isOneRun = relation.value === "ranks";
  const runs = distinctRuns(
    of.map(({ trace }, at) => ({ run: isOneRun ? "run" : runIdOf(trace.name), rank: ranks[at] as number })),
  );
  let size = 0;
  for (const [at, { trace }] of of.entries()) {
    const stream = await arrow(trace, table, { runId: runs[at], rank: ranks[at] });
    size += stream.length;
    await into.insert(table, stream);
  }
  tables.set(table, size);
}

/** The names of the tables. */
export const TABLE_NAMES = Object.keys(TABLES) as TableName[];
