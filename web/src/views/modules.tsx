// Modules: nn.Module calls as a tree.

import { useMemo, useState } from "preact/hooks";
import type { ModulesRow } from "kinetoscope/remote";
import { AnswerTable, columnsOf } from "../components/answer-table";
import { Await, Head, Missing, To } from "../components/parts";
import { rowsOf } from "../state/ask";
import { param } from "../state/route";
import type { OpenTrace } from "../state/session";
import { TEMPLATES, TEXTS } from "../strings";

const LABELS = TEXTS.modules;

function visible(rows: readonly ModulesRow[], closed: ReadonlySet<string>): ModulesRow[] {
  let hiddenBelow = Infinity;
  return rows.filter((row) => {
    if (row.depth > hiddenBelow) return false;
    hiddenBelow = closed.has(row.path) ? row.depth : Infinity;
    return true;
  });
}

function Tree({ open, rows }: { open: OpenTrace; rows: readonly ModulesRow[] }) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const parents = useMemo(
    () => new Set(rows.filter((row, at) => (rows[at + 1]?.depth ?? 0) > row.depth).map((row) => row.path)),
    [rows],
  );
  const toggle = (path: string): void => {
    const next = new Set(closed);
    if (!next.delete(path)) next.add(path);
    setClosed(next);
  };
  const hasBackward = rows.some((row) => row.backward_device_time_total_ns > 0);
  const hasDevice = rows.some((row) => row.device_time_total_ns > 0);
  const searched = (param("q") ?? "") !== "";
  const columns = useMemo(
    () =>
      columnsOf(
        "modules",
        [
          "tree",
          "cpu_time_total_ns",
          "self_cpu_time_total_ns",
          ...(hasDevice ? (["device_time_total_ns", "self_device_time_total_ns"] as const) : []),
          ...(hasBackward ? (["backward_device_time_total_ns"] as const) : []),
          "count",
        ],
        {
          tree: {
            width: "minmax(260px, 2fr)",
            value: (row) => row.name,
            show: (row) => (
              <span class="tree-name" style={{ paddingLeft: `${row.depth * 16}px` }}>
                {parents.has(row.path) ? (
                  <button
                    type="button"
                    class="twist"
                    aria-label={TEMPLATES.toggleRow(closed.has(row.path), row.name)}
                    aria-expanded={!closed.has(row.path)}
                    onClick={() => toggle(row.path)}
                  >
                    {closed.has(row.path) ? "▸" : "▾"}
                  </button>
                ) : (
                  <span class="twist" />
                )}
                <To view="timeline" with={{ q: `nn.Module: ${row.name}` }}>
                  {row.name}
                </To>
              </span>
            ),
          },
          cpu_time_total_ns: { bar: true },
          device_time_total_ns: { bar: true },
          backward_device_time_total_ns: { bar: true, width: "minmax(110px, 150px)" },
          count: { width: "72px" },
        },
      ),
    [closed, parents, hasBackward, hasDevice],
  );
  return (
    <AnswerTable
      label={LABELS.modules}
      trace={open.trace}
      query="modules"
      rows={searched || param("sort") ? rows : visible(rows, closed)}
      columns={columns}
      keyOf={(row) => row.path}
      textOf={(row) => row.path}
    />
  );
}

export function Modules({ open }: { open: OpenTrace }) {
  return (
    <>
      <Head view="modules" />
      <Await answer={rowsOf(open.trace, "modules")}>
        {(rows) => (rows.length === 0 ? <Missing of="modules" /> : <Tree open={open} rows={rows} />)}
      </Await>
    </>
  );
}
