// The exact totals of a trace that is larger than memory.

import { useState } from "preact/hooks";
import { OUTLINE_COLUMNS } from "kinetoscope/columns";
import type { OutlineRow } from "kinetoscope/remote";
import { Panel } from "../components/parts";
import { Table, type TableColumn } from "../components/table";
import { Tabs } from "../components/tabs";
import { count, time } from "../model/format";
import type { Large } from "../state/large";
import { TEMPLATES, TEXTS } from "../strings";

const LABELS = TEXTS.totals;

type Kind = keyof typeof LABELS.kinds;

const SHOWN = {
  category: ["category", "events", "spans", "sum_ns", "longest_ns"],
  track: ["name", "events", "spans", "sum_ns", "start_ns", "end_ns"],
  name: ["name", "category", "events", "sum_ns", "longest_ns"],
} as const satisfies Record<Kind, readonly (keyof OutlineRow)[]>;

function columnsOf(kind: Kind): TableColumn<OutlineRow>[] {
  return SHOWN[kind].map((key) => {
    const column = OUTLINE_COLUMNS.find((one) => one.key === key);
    if (!column) throw new Error(`an outline has no column ${key}`);
    return { ...column, ...(key === "sum_ns" ? { bar: true } : {}) };
  });
}

export function Totals({ large }: { large: Large }) {
  const [kind, setKind] = useState<Kind>("category");
  const [sort, setSort] = useState({ key: "sum_ns", descending: true });
  const all = large.rows.find((row) => row.kind === "trace");
  const rows = large.rows.filter((row) => row.kind === kind);
  return (
    <Panel title={LABELS.title} about={LABELS.about} id="totals">
      <p>
        {TEMPLATES.totalEvents(
          count(large.outline.length),
          time(large.whole.end - large.whole.start),
          time(all?.sum_ns ?? 0),
        )}
      </p>
      <Tabs label={LABELS.title} of={LABELS.kinds} value={kind} onChange={setKind} />
      <Table
        label={LABELS.kinds[kind].label}
        rows={rows}
        columns={columnsOf(kind)}
        keyOf={(row) => `${row.category}\n${row.name}`}
        sort={sort}
        onSort={setSort}
        fit={12}
      />
    </Panel>
  );
}
