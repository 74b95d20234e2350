// Values of the database as values of the page.

/** A value of the page. */
export type Plain = string | number | boolean | null;

/** Returns a value of the database. Only what a number cannot hold becomes a text. */
export function plain(value: unknown): Plain {
  if (value === undefined || value === null) return null;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === "number" || typeof value === "string" || typeof value === "boolean") return value;
  return JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? plain(member) : member));
}

/** Returns the integer with these words, the lowest first. */
export function decimal(words: Uint32Array): bigint {
  const unsigned = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  return BigInt.asIntN(32 * words.length, unsigned);
}

/** A column, with its type as Arrow has it. */
interface Typed {
  type: { toString(): string; precision?: number; scale?: number };
}

/** How a column of this type is read, if not as it is. */
function castOf({ type }: Typed): string | undefined {
  const name = String(type);
  if (/^(U?Int\d|Float|Utf8|Bool|Null)/.test(name)) return undefined;
  if (!name.startsWith("Decimal")) return "VARCHAR";
  if (type.scale === 0) return undefined;
  return (type.precision ?? 38) <= 15 ? "DOUBLE" : "VARCHAR";
}

/** Returns a query that reads dates, lists and others of a query as texts; undefined if there are none. */
export function inText(sql: string, columns: readonly Typed[]): string | undefined {
  const casts = columns.map(castOf);
  if (casts.every((cast) => cast === undefined)) return undefined;
  const shown = casts.map((cast, at) => (cast ? `CAST(#${at + 1} AS ${cast})` : `#${at + 1}`));
  return `SELECT ${shown.join(", ")} FROM ${within(sql)}`;
}

/** Returns a query as a part of another one. */
export function within(sql: string): string {
  return `(\n${sql.trim().replace(/;$/, "")}\n)`;
}

export function hasOneNameTwice(columns: readonly { name: string }[]): boolean {
  return new Set(columns.map(({ name }) => name)).size < columns.length;
}
