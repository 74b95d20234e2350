// SQL: what a query reads, how tables are declared, and how values are shown.

import { readFileSync, readdirSync } from "node:fs";
import { TABLES, type TableName } from "kinetoscope/columns";
import { describe, expect, test } from "vitest";
import { decimal, inText, plain } from "../src/engine/values";
import { asCsv, creating, distinctRuns, kindOf, libraryOf, nameOf, namesIn, readsOf, sizeOf } from "../src/model/sql";

const native = new URL("../../native/tables/", import.meta.url).pathname;

function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(native + folder);
  return Object.fromEntries(
    names.map((name) => [`${folder}/${name}`, readFileSync(`${native}${folder}/${name}`, "utf8")]),
  );
}

const views = Object.fromEntries(Object.entries(filesIn("src/sql/views")).map(([path, sql]) => [nameOf(path), sql]));

describe("what a query reads", () => {
  test("names in comments and texts do not count", () => {
    const sql = "-- ops\nSELECT Name, 'kernels ''gaps'' ' FROM Events /* steps\n tracks */ WHERE a_1 = \"b\"";
    expect([...namesIn(sql)]).toEqual(["select", "name", "from", "events", "where", "a_1", "b"]);
    expect(readsOf(sql, {})).toEqual({ tables: ["events"], views: [] });
  });

  test("a view reads its own tables", () => {
    expect(readsOf("SELECT * FROM hta", views)).toEqual({ tables: ["events", "tracks", "launches"], views: ["hta"] });
    expect(readsOf("SELECT 1", views)).toEqual({ tables: [], views: [] });
  });

  test("every query of the library reads a table", () => {
    const library = libraryOf(filesIn("queries"));
    expect(library.length).toBeGreaterThan(20);
    for (const { name, about, sql } of library) {
      expect(about, name).toMatch(/^[A-Z].*\.$/);
      expect(readsOf(sql, views).tables.length, name).toBeGreaterThan(0);
    }
  });
});

test("tables are declared with the types of their columns", () => {
  expect(creating("tracks")).toBe(
    'CREATE OR REPLACE TABLE tracks ("run_id" VARCHAR, "rank" BIGINT, "track" BIGINT, "pid" VARCHAR, "tid" VARCHAR, ' +
      '"process" VARCHAR, "thread" VARCHAR, "device" BIGINT, "stream" BIGINT)',
  );
  for (const table of Object.keys(TABLES) as TableName[]) expect(sizeOf(table, 1000)).toBeGreaterThan(20_000);
});

describe("values", () => {
  test("units are those of the names", () => {
    expect(["sum_ns", "ns", "peak_bytes", "turns", "rank"].map((name) => kindOf(name, "Int64"))).toEqual([
      "ns",
      "ns",
      "bytes",
      "int",
      "int",
    ]);
    expect([kindOf("mean_ns", "Float64"), kindOf("x", "Float32"), kindOf("a", "Decimal[38e+0]")]).toEqual([
      "ns",
      "float",
      "int",
    ]);
    expect([kindOf("a_ns", "Utf8"), kindOf("a", "Bool"), kindOf("a", "List<Int64>")]).toEqual(["text", "bool", "text"]);
  });

  test("only integers that a number cannot hold become texts", () => {
    expect([7n, 2n ** 53n - 1n, -(2n ** 60n), null, undefined, 1.5, "a", true].map(plain)).toEqual([
      7,
      2 ** 53 - 1,
      "-1152921504606846976",
      null,
      null,
      1.5,
      "a",
      true,
    ]);
    expect(plain({ a: [1n, null] })).toBe('{"a":[1,null]}');
  });

  test("integers of 128 bits have words of 32 bits", () => {
    expect(decimal(Uint32Array.of(5, 1, 0, 0))).toBe(2n ** 32n + 5n);
    expect(decimal(Uint32Array.of(0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff))).toBe(-1n);
  });

  test("the database writes dates, decimals and lists", () => {
    const types = ["Int64", "Utf8", "Date32<DAY>", "List<Int32>"].map((type) => ({ type }));
    expect(inText("SELECT 1", types.slice(0, 2))).toBeUndefined();
    expect(inText("SELECT 1;", types)).toBe(
      "SELECT #1, #2, CAST(#3 AS VARCHAR), CAST(#4 AS VARCHAR) FROM (\nSELECT 1\n)",
    );
    const decimals = [
      { precision: 38, scale: 0 },
      { precision: 15, scale: 2 },
      { precision: 20, scale: 3 },
    ].map((type) => ({ type: { ...type, toString: () => "Decimal" } }));
    expect(inText("x", decimals)).toBe("SELECT #1, CAST(#2 AS DOUBLE), CAST(#3 AS VARCHAR) FROM (\nx\n)");
  });

  test("CSV quotes what needs it", () => {
    const names = ["a,b", "n"];
    const rows = [
      ['say "no"', 1],
      ["two\nlines", null],
    ];
    expect(asCsv(names, 2, (column, row) => rows[row]?.[column])).toBe(
      '"a,b",n\r\n"say ""no""",1\r\n"two\nlines",\r\n',
    );
  });
});

test("the same rank of the same run has another run", () => {
  const traces = [
    { run: "a", rank: 0 },
    { run: "a", rank: 1 },
    { run: "a", rank: 0 },
    { run: "a-2", rank: 0 },
  ];
  expect(distinctRuns(traces)).toEqual(["a", "a", "a-2", "a-2-2"]);
});
