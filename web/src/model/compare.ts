// Joins two answers by name: rows that changed, are new, or are gone.

export type Change = "changed" | "same" | "new" | "gone";

export interface Pair<Row> {
  name: string;
  before: Row | undefined;
  after: Row | undefined;
  beforeNs: number;
  afterNs: number;
  /** After minus before, in ns. */
  differenceNs: number;
  /** After divided by before; null if there was no time before. */
  ratio: number | null;
  change: Change;
}

/** Differences up to this fraction of the longer time count as no change. */
const NOISE = 0.02;

/** Groups rows by name; the times of rows with the same name are added up. */
function byName<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  timeOf: (row: Row) => number,
): Map<string, { row: Row; ns: number }> {
  const found = new Map<string, { row: Row; ns: number }>();
  for (const row of rows) {
    const known = found.get(nameOf(row));
    if (known) known.ns += timeOf(row);
    else found.set(nameOf(row), { row, ns: timeOf(row) });
  }
  return found;
}

/** Returns a pair for every name in either answer, the largest difference first. */
export function compare<Row>(
  before: readonly Row[],
  after: readonly Row[],
  nameOf: (row: Row) => string,
  timeOf: (row: Row) => number,
): Pair<Row>[] {
  const first = byName(before, nameOf, timeOf);
  const second = byName(after, nameOf, timeOf);
  const pairs = [...new Set([...first.keys(), ...second.keys()])].map((name): Pair<Row> => {
    const [was, is] = [first.get(name), second.get(name)];
    const [beforeNs, afterNs] = [was?.ns ?? 0, is?.ns ?? 0];
    const differenceNs = afterNs - beforeNs;
    const noise = Math.abs(differenceNs) <= NOISE * Math.max(beforeNs, afterNs);
    const change = !was ? "new" : !is ? "gone" : noise ? "same" : "changed";
    return {
      name,
      before: was?.row,
      after: is?.row,
      beforeNs,
      afterNs,
      differenceNs,
      ratio: beforeNs > 0 ? afterNs / beforeNs : null,
      change,
    };
  });
  return pairs.sort((a, b) => Math.abs(b.differenceNs) - Math.abs(a.differenceNs));
}
