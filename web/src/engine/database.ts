// DuckDB in a worker, from the page's own folder. It is only loaded by the view SQL.
//
// The worker is made from a blob, so that the page's content policy holds in it: it can connect to the page's own origin only.
// Settings also forbid it to read files and to load extensions. Queries run in transactions that can only read.

import { AsyncDuckDB, VoidLogger, type AsyncDuckDBConnection } from "@duckdb/duckdb-wasm";
import engine from "@duckdb/duckdb-wasm/dist/duckdb-eh.wasm?url";
import script from "@duckdb/duckdb-wasm/dist/duckdb-browser-eh.worker.js?url";
import { fetchOwn } from "./own-file";
import { decimal, hasOneNameTwice, inText, plain, within, type Plain } from "./values";

/** The rows that a query returned. */
export interface Rows {
  length: number;
  /** The names, and the types as Arrow writes them. */
  columns: { name: string; type: string }[];
  valueAt(column: number, row: number): Plain;
}

const SETTINGS = [
  "SET autoinstall_known_extensions = false",
  "SET autoload_known_extensions = false",
  "SET enable_external_access = false",
  "SET lock_configuration = true",
];

/** Fetches a file of the page and returns an address of its content. */
async function fetched(url: string, type: string): Promise<string> {
  const response = await fetchOwn(url);
  return URL.createObjectURL(new Blob([await response.arrayBuffer()], { type }));
}

/** Fails when the worker fails. */
function failureOf(worker: Worker): Promise<never> {
  return new Promise((_, reject) => {
    worker.addEventListener("error", (event) => reject(new Error(event.message || "the worker could not be started")));
  });
}

type Result = Awaited<ReturnType<AsyncDuckDBConnection["query"]>>;

/** A database in memory. */
export class Database {
  readonly #database: AsyncDuckDB;
  readonly #connection: AsyncDuckDBConnection;

  private constructor(database: AsyncDuckDB, connection: AsyncDuckDBConnection) {
    this.#database = database;
    this.#connection = connection;
  }

  static async start(): Promise<Database> {
    const [code, program] = await Promise.all([
      fetched(script, "text/javascript"),
      fetched(engine, "application/wasm"),
    ]);
    const worker = new Worker(code);
    try {
      const database = new AsyncDuckDB(new VoidLogger(), worker);
      await Promise.race([database.instantiate(program), failureOf(worker)]);
      const connection = await database.connect();
      for (const setting of SETTINGS) await connection.query(setting);
      return new Database(database, connection);
    } catch (thrown) {
      worker.terminate();
      throw thrown;
    } finally {
      URL.revokeObjectURL(code);
      URL.revokeObjectURL(program);
    }
  }

  /** Runs a statement of the page. */
  async execute(sql: string): Promise<void> {
    await this.#connection.query(sql);
  }

  /** Adds the rows of a stream of Arrow's IPC format to a table. */
  async insert(table: string, stream: Uint8Array): Promise<void> {
    await this.#connection.insertArrowFromIPCStream(stream, { name: table, create: false });
  }

  /** Runs one statement of the user, which cannot change tables. */
  async run(sql: string): Promise<Rows> {
    let first = await this.#read(sql);
    // apache-arrow mixes up columns of one name; a query around it gives each a name of its own.
    if (hasOneNameTwice(first.schema.fields)) first = await this.#read(`SELECT * FROM ${within(sql)}`);
    const { fields } = first.schema;
    // The database itself writes dates, decimals, lists and others as texts.
    const inTexts = inText(sql, fields);
    const table = inTexts === undefined ? first : await this.#read(inTexts).catch(() => first);
    const vectors = fields.map((_, at) => table.getChildAt(at));
    return {
      length: table.numRows,
      columns: table.schema.fields.map(({ type }, at) => ({ name: fields[at]?.name ?? "", type: String(type) })),
      valueAt: (column, row) => {
        const value: unknown = vectors[column]?.get(row);
        return plain(value instanceof Uint32Array ? decimal(value) : value);
      },
    };
  }

  async #read(sql: string): Promise<Result> {
    await this.#connection.query("BEGIN TRANSACTION READ ONLY");
    try {
      const statement = await this.#connection.prepare(sql);
      try {
        return await statement.query();
      } finally {
        await statement.close();
      }
    } finally {
      // The statement itself can have ended the transaction.
      await this.#connection.query("ROLLBACK").catch(() => undefined);
    }
  }

  /** Ends the worker, also during a query. */
  end(): void {
    void this.#database.terminate();
  }
}
