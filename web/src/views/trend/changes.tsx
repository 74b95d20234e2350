// The table of the changes of a history.

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

const value = (key: "before" | "after", title: string, about: string): TableColumn<TrendRow> => ({
  key,
  title,
  kind: "float",
  about,
  width: "100px",
  show: (row) => shown(row.unit, row[key]),
});

const COLUMNS: TableColumn<TrendRow>[] = [
  { key: "run", title: LABELS.run, kind: "int", about: LABELS.runHint, width: "64px" },
  {
    key: "commit",
    title: LABELS.commit,
    kind: "text",
    about: LABELS.commitHint,
    width: "116px",
    show: ({ commit }) => <code data-hint={commit}>{shortCommit(commit)}</code>,
  },
  {
    key: "metric",
    title: LABELS.metric,
    kind: "text",
    about: LABELS.metricHint,
    width: "minmax(160px, 2fr)",
    show: ({ metric }) => (
      <button type="button" class="link" onClick={() => setParams({ q: metric })}>
        {metric}
      </button>
    ),
  },
  value("before", LABELS.before, LABELS.beforeHint),
  value("after", LABELS.after, LABELS.afterHint),
  {
    key: "change",
    title: LABELS.change,
    kind: "share",
    about: LABELS.changeHint,
    width: "92px",
    show: (row) => <Relative row={row} />,
  },
];

export function ChangeTable({ rows }: { rows: readonly TrendRow[] }) {
  return (
    <Table label={LABELS.changes} columns={COLUMNS} rows={rows} fit={8} keyOf={(row) => `${row.run} ${row.metric}`} />
  );
}
