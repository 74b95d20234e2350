// DuckDB in a worker, from the page's own folder. It is only loaded by the view SQL.
//
// The worker is made from a blob, so that the page's content policy holds in it: it can connect to the page's own origin only.
// Settings also forbid it to read files and to load extensions.

import { AsyncDuckDB, VoidLogger, type AsyncDuckDBConnection } from "@duckdb/duckdb-wasm";
import engine from "@duckdb/duckdb-wasm/dist/duckdb-eh.wasm?url";
import script from "@duckdb/duckdb-wasm/dist/duckdb-browser-eh.worker.js?url";
import { DataType, type Decimal, type Vector } from "apache-arrow";
import { decimal, plain } from "./values";

/** The rows that a query returned. */
export interface Rows {
  length: number;
  /** The names, and the types as Arrow writes them. A decimal with places is a `Float`. */
  columns: { name: string; type: string }[];
  valueAt(column: number, row: number): string | number | boolean | null;
}

const SETTINGS = [
  "SET autoinstall_known_extensions = false",
  "SET autoload_known_extensions = false",
  "SET enable_external_access = false",
  "SET lock_configuration = true",
];

async function fetched(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
  return response;
}

/** A database in memory. */
export class Database {
  readonly #database: AsyncDuckDB;
  readonly #connection: AsyncDuckDBConnection;

  private constructor(database: AsyncDuckDB, connection: AsyncDuckDBConnection) {
    this.#database = database;
    this.#connection = connection;
  }

  static async start(): Promise<Database> {
    const text = await (await fetched(new URL(script, location.href).href)).text();
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const database = new AsyncDuckDB(new VoidLogger(), new Worker(address));
    URL.revokeObjectURL(address);
    await database.instantiate(new URL(engine, location.href).href);
    const connection = await database.connect();
    for (const setting of SETTINGS) await connection.query(setting);
    return new Database(database, connection);
  }

  /** Adds the rows of a stream of Arrow's IPC format to a table. */
  async insert(table: string, stream: Uint8Array): Promise<void> {
    await this.#connection.insertArrowFromIPCStream(stream, { name: table, create: false });
  }

  async run(sql: string): Promise<Rows> {
    const table = await this.#connection.query(sql);
    const columns = table.schema.fields.map(({ name, type }) => ({
      name,
      type: DataType.isDecimal(type) && type.scale > 0 ? "Float" : String(type),
    }));
    const vectors = columns.map((_, at) => table.getChildAt(at));
    return {
      length: table.numRows,
      columns,
      valueAt: (column, row) => valueOf(vectors[column], row),
    };
  }

  /** Ends the worker, also during a query. */
  end(): void {
    void this.#database.terminate();
  }
}

function valueOf(vector: Vector | null | undefined, row: number): string | number | boolean | null {
  const value: unknown = vector?.get(row);
  if (!(value instanceof Uint32Array) || !DataType.isDecimal(vector?.type)) return plain(value);
  return plain(decimal(value, (vector.type as Decimal).scale));
}
