// The titles and descriptions of columns of `serving`.

import { COLUMNS, type Column } from "kinetoscope/columns";

export function columnOf(key: string): Column {
  const columns: readonly Column[] = COLUMNS.serving;
  const column = columns.find((one) => one.key === key);
  if (!column) throw new Error(`serving has no column ${key}`);
  return column;
}
