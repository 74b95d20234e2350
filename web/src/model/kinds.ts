// Answers with several kinds of rows.

/** The rows of some kinds. */
export type OfKind<Row extends { kind: string }, K extends Row["kind"]> = Extract<Row, { kind: K }>;

/** Returns the rows of a kind. */
export function ofKind<Row extends { kind: string }, K extends Row["kind"]>(
  rows: readonly Row[],
  kind: K,
): OfKind<Row, K>[] {
  return rows.filter((row): row is OfKind<Row, K> => row.kind === kind);
}
