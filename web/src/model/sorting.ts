// Sorts and copies rows.

/** Returns a sorted copy. Rows without a value come last in both directions; the sort is stable. */
export function sorted<Row>(rows: readonly Row[], valueOf: (row: Row) => unknown, descending: boolean): Row[] {
  const sign = descending ? -1 : 1;
  const isNone = (value: unknown): boolean => value === null || value === undefined || Number.isNaN(value);
  const pairs = rows.map((row, at) => ({ row, at, value: valueOf(row) }));
  pairs.sort((a, b) => {
    if (isNone(a.value) || isNone(b.value)) return Number(isNone(a.value)) - Number(isNone(b.value)) || a.at - b.at;
    const order =
      typeof a.value === "string" && typeof b.value === "string"
        ? a.value.localeCompare(b.value, "en")
        : Number(a.value) - Number(b.value);
    return sign * order || a.at - b.at;
  });
  return pairs.map((pair) => pair.row);
}

/** Formats rows as tab-separated text for a spreadsheet. */
export function asTabs<Row>(
  columns: readonly { key: string; title: string }[],
  rows: readonly Row[],
  valueOf: (key: string, row: Row) => unknown,
): string {
  const text = (value: unknown): string => {
    if (value === null || value === undefined) return "";
    return (typeof value === "object" ? JSON.stringify(value) : String(value)).replaceAll(/[\t\n\r]+/g, " ");
  };
  const lines = rows.map((row) => columns.map((column) => text(valueOf(column.key, row))).join("\t"));
  return [columns.map((column) => column.key).join("\t"), ...lines].join("\n");
}
