// SQL: the library of queries, which tables a query is about, and how their columns are declared. Queries are checked by the
// database; this file only reads names from their text.

import { TABLES, type ColumnKind, type Field, type FieldType, type TableName } from "kinetoscope/columns";

/** A query of the library. */
export interface LibraryQuery {
  name: string;
  /** What it answers, in one line. */
  about: string;
  sql: string;
}

/** Returns the queries of these files, by name. The first line of a query says what it answers. */
export function libraryOf(files: Readonly<Record<string, string>>): LibraryQuery[] {
  const queries = Object.entries(files).map(([path, sql]) => ({
    name: nameOf(path),
    about: /^-- (.*)/.exec(sql)?.[1] ?? "",
    sql: sql.trim(),
  }));
  return queries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the name of a file without its folder and ending. */
export function nameOf(path: string): string {
  return path.replace(/^.*\//, "").replace(/\.sql$/, "");
}

/** Returns the names in a query, in lower case, without those in comments and in texts. */
export function namesIn(sql: string): Set<string> {
  const code = sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, " ");
  return new Set(code.toLowerCase().match(/[a-z_]\w*/g) ?? []);
}

/** What a query reads. */
export interface Reads {
  tables: TableName[];
  /** The names of the views. */
  views: string[];
}

/** Returns the tables and the views that a query names, with the tables of these views. */
export function readsOf(sql: string, views: Readonly<Record<string, string>>): Reads {
  const names = namesIn(sql);
  const named = Object.keys(views).filter((view) => names.has(view));
  const all = new Set([...names, ...named.flatMap((view) => [...namesIn(views[view] as string)])]);
  return { tables: (Object.keys(TABLES) as TableName[]).filter((table) => all.has(table)), views: named };
}

const TYPES: Record<FieldType, string> = {
  int: "BIGINT",
  float: "DOUBLE",
  bool: "BOOLEAN",
  name: "VARCHAR",
  text: "VARCHAR",
  map: "MAP(VARCHAR, VARCHAR)",
};

/** The columns that every table begins with. */
export const OWN: readonly Field[] = [
  { name: "run_id", type: "name", optional: false, about: "The run." },
  { name: "rank", type: "int", optional: false, about: "The rank of the trace." },
];

/** Returns the columns of a table. */
export function columnsOf(table: TableName): readonly Field[] {
  return [...OWN, ...TABLES[table].columns];
}

/** Returns the statement that creates an empty table. */
export function creating(table: TableName): string {
  const columns = columnsOf(table).map(({ name, type }) => `"${name}" ${TYPES[type]}`);
  return `CREATE OR REPLACE TABLE ${table} (${columns.join(", ")})`;
}

/** How many bytes of tables are held in memory. More is left to the command line. */
export const MOST_BYTES = 1.5e9;

/** Returns about how many bytes a table takes. Most columns are numbers of eight bytes. */
export function sizeOf(table: TableName, rows: number): number {
  return rows * columnsOf(table).length * 8;
}

/** Returns what the values of a column are, by its Arrow type and by the unit that its name ends with. */
export function kindOf(name: string, type: string): ColumnKind {
  if (type === "Bool") return "bool";
  if (/^Float/.test(type)) return unitOf(name) ?? "float";
  if (/^U?Int|^Decimal/.test(type)) return unitOf(name) ?? "int";
  return "text";
}

function unitOf(name: string): "ns" | "bytes" | undefined {
  return /(?:^|_)(ns|bytes)$/.exec(name)?.[1] as "ns" | "bytes" | undefined;
}

/** Returns runs that are distinct for traces that would otherwise be the same rank of the same run. */
export function distinctRuns(traces: readonly { run: string; rank: number }[]): string[] {
  const known = new Set<string>();
  return traces.map(({ run, rank }) => {
    let name = run;
    for (let at = 2; known.has(`${name}\n${rank}`); at += 1) name = `${run}-${at}`;
    known.add(`${name}\n${rank}`);
    return name;
  });
}

/** Returns rows as CSV with a line of the names, as the command line writes it. */
export function asCsv(
  names: readonly string[],
  rows: number,
  valueAt: (column: number, row: number) => unknown,
): string {
  const quoted = (value: unknown): string => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [names.map(quoted).join(",")];
  for (let row = 0; row < rows; row += 1) {
    lines.push(names.map((_, column) => quoted(valueAt(column, row))).join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}
