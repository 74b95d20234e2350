// The calls of a flame graph as a table, for the keyboard and assistive technology.

import { useMemo, useState } from "preact/hooks";
import { Table, type TableColumn } from "../../components/table";
import { metricOf, SEPARATOR, type FlameNode, type Metric } from "../../model/flame";
import { TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.flameTreeTable;
const SHARED = TEXTS.shared;

type Row = FlameNode & { key: string };

/** Returns the visible rows in depth-first order: the children of the root and of open rows. */
function listed(root: FlameNode, opened: ReadonlySet<string>, metric: Metric): Row[] {
  const rows: Row[] = [];
  const add = (node: FlameNode, path: string): void => {
    const key = `${path}${SEPARATOR}${node.name}`;
    rows.push({ ...node, key });
    if (opened.has(key)) for (const child of ordered(node)) add(child, key);
  };
  const ordered = (node: FlameNode): FlameNode[] =>
    node.children
      .filter((child) => metricOf(child, metric) > 0)
      .sort((a, b) => metricOf(b, metric) - metricOf(a, metric));
  for (const child of ordered(root)) add(child, "");
  return rows;
}

/** Calls with at least this fraction of the time are open at first. */
const DOMINANT = 0.9;

/** Returns the keys of the path of calls with almost all of the time. */
function dominant(root: FlameNode, metric: Metric): Set<string> {
  const opened = new Set<string>();
  const whole = metricOf(root, metric);
  let key = "";
  for (let node: FlameNode | undefined = root; node;) {
    const next: FlameNode | undefined = node.children.find((child) => metricOf(child, metric) >= whole * DOMINANT);
    if (next) opened.add((key = `${key}${SEPARATOR}${next.name}`));
    node = next;
  }
  return opened;
}

export function TreeTable({ focus, metric, whole }: { focus: FlameNode; metric: Metric; whole: number }) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => dominant(focus, metric));
  const rows = useMemo(() => listed(focus, opened, metric), [focus, opened, metric]);
  const toggle = (key: string): void => {
    const next = new Set(opened);
    if (!next.delete(key)) next.add(key);
    setOpened(next);
  };
  const columns: TableColumn<Row>[] = [
    {
      key: "name",
      title: SHARED.call,
      kind: "text",
      about: LABELS.callHint,
      width: "minmax(260px, 3fr)",
      show: (row) => (
        <span class="tree-name" style={{ paddingLeft: `${(row.depth - focus.depth - 1) * 14}px` }}>
          {row.children.length > 0 ? (
            <button
              type="button"
              class="twist"
              aria-label={TEMPLATES.toggleRow(!opened.has(row.key), row.name)}
              aria-expanded={opened.has(row.key)}
              onClick={() => toggle(row.key)}
            >
              {opened.has(row.key) ? "▾" : "▸"}
            </button>
          ) : (
            <span class="twist" />
          )}
          {row.name}
        </span>
      ),
    },
    { key: "total", title: SHARED.total, kind: "ns", about: LABELS.totalHint, bar: true },
    { key: "self", title: LABELS.self, kind: "ns", about: LABELS.selfHint },
    {
      key: "deviceTotal",
      title: SHARED.device,
      kind: "ns",
      about: LABELS.deviceHint,
      bar: true,
    },
    {
      key: "share",
      title: LABELS.share,
      kind: "share",
      about: LABELS.shareHint,
      value: (row) => (whole > 0 ? metricOf(row, metric) / whole : 0),
      width: "80px",
    },
    { key: "count", title: SHARED.calls, kind: "int", about: LABELS.callsHint, width: "80px" },
  ];
  return (
    <Table
      label={LABELS.callTree}
      columns={columns}
      rows={rows}
      keyOf={(row) => row.key}
      onSort={() => undefined}
      fit={14}
    />
  );
}
