// Tables as Arrow streams: apache-arrow, Arquero and DuckDB read them, and in DuckDB the queries of the library have the answers of
// the engine.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { before, test } from "node:test";
import * as duckdb from "@duckdb/duckdb-wasm/blocking";
import { tableFromIPC } from "apache-arrow";
import { fromArrow } from "arquero";
import { open } from "kinetoscope";
import { arrow, runIdOf } from "kinetoscope/arrow";
import { SCHEMA_VERSION, TABLES } from "kinetoscope/columns";
import { open as openRemote } from "kinetoscope/worker";
import { data, filesBelow, root } from "./files.js";

const TRACES = [
  ...filesBelow(`${data}/torch/cuda`).filter((path) => /\/trace\.json\.gz$/.test(path)),
  ...filesBelow(`${data}/healthy`).filter((path) => /\.json(\.gz)?$/.test(path)),
  ...filesBelow(`${data}/runs/two_groups`).slice(0, 1),
];

const folder = `${root}native/tables/queries`;
const LIBRARY = readdirSync(folder).map((file) => {
  const sql = readFileSync(`${folder}/${file}`, "utf8");
  return { name: file, sql, equals: /^-- equals: (.*)/m.exec(sql)?.[1], where: /^-- where: (.*)/m.exec(sql)?.[1] };
});

let connection;

before(async () => {
  const dist = dirname(createRequire(import.meta.url).resolve("@duckdb/duckdb-wasm"));
  const bundle = { mainModule: `${dist}/duckdb-eh.wasm`, mainWorker: "" };
  const bundles = { mvp: bundle, eh: bundle };
  const database = await duckdb.createDuckDB(bundles, new duckdb.VoidLogger(), duckdb.NODE_RUNTIME);
  await database.instantiate();
  connection = database.connect();
});

const TYPES = { int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN", map: "MAP(VARCHAR, VARCHAR)" };

/** Inserts every table of a trace into the database. */
async function insertAll(trace) {
  for (const [table, { columns }] of Object.entries(TABLES)) {
    const declared = columns.map(({ name, type }) => `"${name}" ${TYPES[type] ?? "VARCHAR"}`);
    connection.query(`CREATE OR REPLACE TABLE ${table} (run_id VARCHAR, rank BIGINT, ${declared.join(", ")})`);
    connection.insertArrowFromIPCStream(await arrow(trace, table, { runId: "run" }), { name: table, create: false });
  }
}

const camelCase = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

/** The rows of a query of the engine that a query of the library equals. */
function expectedOf(trace, { equals, where }) {
  const [query, ...options] = equals.split(" ");
  const given = {};
  for (let at = 0; at < options.length; at += 2) given[camelCase(options[at].slice(2))] = options[at + 1];
  const rows = trace.rows(query, given);
  if (!where) return rows;
  const [key, value] = where.split("=");
  return rows.filter((row) => row[key] === value);
}

const RENAMED = { left_value: "left", right_value: "right" };

/** A value as text. The engine's rows have numbers for integers. Shapes are written as in Python, and as JSON by the engine. */
function textOf(value) {
  if (value === null || value === undefined) return "null";
  if (value instanceof Uint32Array) return String(value.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n));
  if (typeof value === "bigint" || /^\d{17,}$/.test(value)) return String(Number(value));
  if (typeof value === "object") return JSON.stringify(value);
  return String(value).replace(/^\[.*/, (shapes) => shapes.replaceAll(", ", ","));
}

test("queries in DuckDB have the answers of the engine", async () => {
  const compared = Object.fromEntries(LIBRARY.map(({ name }) => [name, 0]));
  for (const path of TRACES) {
    const trace = await open(path);
    await insertAll(trace);
    for (const query of LIBRARY) {
      const answer = connection.query(query.sql);
      compared[query.name] += answer.numRows;
      if (!query.equals) continue;
      const columns = answer.schema.fields.map(({ name }) => name).slice(2);
      const ours = answer.toArray().map((row) => columns.map((name) => textOf(row[name])));
      const theirs = expectedOf(trace, query).map((row) => columns.map((name) => textOf(row[RENAMED[name] ?? name])));
      assert.deepEqual(ours.map(String).sort(), theirs.map(String).sort(), `${path}: ${query.name}`);
    }
    trace.dispose();
  }
  const empty = Object.keys(compared).filter((name) => compared[name] === 0 && name !== "late_ranks.sql");
  assert.deepEqual(empty, []);
});

test("apache-arrow and Arquero read the tables", async () => {
  const trace = await open(`${data}/torch/cuda/mlp/trace.json.gz`);
  for (const [table, { columns }] of Object.entries(TABLES)) {
    const stream = await arrow(trace, table);
    const read = tableFromIPC(stream);
    assert.deepEqual(
      read.schema.fields.map(({ name, nullable }) => [name, nullable]),
      [["run_id", false], ["rank", false], ...columns.map(({ name, optional }) => [name, optional])],
    );
    assert.equal(read.schema.metadata.get("kinetoscope.table"), table);
    assert.equal(read.schema.metadata.get("kinetoscope.schema_version"), String(SCHEMA_VERSION));
    assert.equal(fromArrow(stream).numRows(), read.numRows);
  }
  const events = tableFromIPC(await arrow(trace, "events"));
  assert.equal(events.numRows, trace.length);
  const kernels = trace.rows("kernels");
  const sum = kernels.reduce((sum, { sum_ns }) => sum + sum_ns, 0);
  const ours = fromArrow(await arrow(trace, "kernels")).array("dur_ns");
  assert.equal(Number([...ours].reduce((sum, ns) => sum + BigInt(ns), 0n)), sum);
  // Values of each type, of the first operator with shapes.
  const row = events.toArray().find((row) => row.input_dims);
  const shown = trace.event(Number(row.event));
  assert.deepEqual([row.name, row.category], [shown.name, shown.cat]);
  assert.deepEqual(JSON.parse(row.input_dims), shown.args["Input Dims"]);
  assert.equal(row.args.toJSON()["Ev Idx"], undefined, "typed arguments have columns");
  trace.dispose();
});

test("tables without rows are read", async () => {
  const trace = await open(Buffer.from('[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]'));
  for (const [table, { columns }] of Object.entries(TABLES)) {
    const stream = await arrow(trace, table);
    const [read, inArquero] = [tableFromIPC(stream), fromArrow(stream)];
    assert.equal(inArquero.numRows(), read.numRows, table);
    assert.equal(read.schema.fields.length, columns.length + 2);
    if (table !== "kernels") continue;
    assert.equal(read.numRows, 0);
    connection.insertArrowFromIPCStream(stream, { name: "without_rows", create: true });
    assert.equal(connection.query("SELECT count(*) AS n FROM without_rows").toArray()[0].n, 0n);
  }
  trace.dispose();
});

test("a worker gives the same streams", async () => {
  const path = `${data}/torch/cuda/nccl/trace.json.gz`;
  const [here, there] = [await open(path), await openRemote(path)];
  for (const table of Object.keys(TABLES)) {
    assert.deepEqual(await arrow(there, table), await arrow(here, table), table);
  }
  here.dispose();
  there.dispose();
});

test("some columns are requested", async () => {
  const trace = await open(`${data}/torch/cuda/mlp/trace.json.gz`);
  const read = tableFromIPC(
    await arrow(trace, "kernels", { columns: ["dur_ns", "rank", "name"], runId: "a", rank: 7 }),
  );
  assert.deepEqual(
    read.schema.fields.map(({ name }) => name),
    ["run_id", "rank", "dur_ns", "name"],
  );
  assert.deepEqual([read.get(0).run_id, read.get(0).rank], ["a", 7n]);
  const { length, columns } = trace.buffers("kernels", { columns: ["dur_ns"] });
  assert.deepEqual([length, Object.keys(columns), columns.dur_ns.kind], [read.numRows, ["dur_ns"], "int"]);
  trace.dispose();
});

test("wrong requests are refused", async () => {
  const trace = await open(`${data}/torch/cuda/mlp/trace.json.gz`);
  const refused = async (message, ...given) => assert.rejects(arrow(trace, ...given), { code: "bad_option", message });
  await refused("there is no table `event`", "event");
  await refused("the table `kernels` has no column `duration`", "kernels", { columns: ["duration"] });
  await refused(/^runId: “a\/b” must consist of/, "kernels", { runId: "a/b" });
  await refused(/^rank: -1 is not a whole number/, "kernels", { rank: -1 });
  await refused(/^columns: "dur_ns" is not an array/, "kernels", { columns: "dur_ns" });
  await refused(/^unknown option column/, "kernels", { column: [] });
  trace.dispose();
});

test("runs resemble the names of traces", () => {
  const names = ["/a/run.v2.pt.trace.json.gz", "a\\my run.ktrace", "..", "é.json", "x"];
  assert.deepEqual(names.map(runIdOf), ["run.v2", "my_run", "run", "_", "x"]);
});
