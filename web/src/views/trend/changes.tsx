// The table of the changes of a history.

import { TREND_COLUMNS } from "kinetoscope/columns";
import type { TrendRow } from "kinetoscope/remote";
import { Table, type TableColumn } from "../../components/table";
import { share } from "../../model/format";
import { shortCommit, shown } from "../../model/trend";
import { setParams } from "../../state/route";
import { TEXTS } from "../../strings";

const LABELS = TEXTS.trend;

/** The change of a metric relative to its value before. */
export function Relative({ row: { before, after, change } }: { row: TrendRow }) {
  const text = change === null ? "–" : `${change > 0 ? "+" : ""}${share(change)}`;
  return <span class={after > before ? "worse" : "better"}>{text}</span>;
}

/** Returns a column of the engine's answer. */
function column(key: keyof TrendRow, more: Partial<TableColumn<TrendRow>>): TableColumn<TrendRow> {
  const { title = "", kind = "text", about = "" } = TREND_COLUMNS.find((one) => one.key === key) ?? {};
  return { key, title, kind, about, ...more };
}

const value = (key: "before" | "after"): TableColumn<TrendRow> =>
  column(key, { width: "100px", show: (row) => shown(row.unit, row[key]) });

const COLUMNS: TableColumn<TrendRow>[] = [
  column("run", { width: "64px" }),
  column("commit", {
    width: "116px",
    show: ({ commit }) => <code data-hint={commit}>{shortCommit(commit)}</code>,
  }),
  column("metric", {
    width: "minmax(160px, 2fr)",
    show: ({ metric }) => (
      <button type="button" class="link" onClick={() => setParams({ q: metric })}>
        {metric}
      </button>
    ),
  }),
  value("before"),
  value("after"),
  column("change", { width: "92px", show: (row) => <Relative row={row} /> }),
];

export function ChangeTable({ rows }: { rows: readonly TrendRow[] }) {
  return (
    <Table label={LABELS.changes} columns={COLUMNS} rows={rows} fit={8} keyOf={(row) => `${row.run} ${row.metric}`} />
  );
}
