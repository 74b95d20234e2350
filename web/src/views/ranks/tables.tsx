// Tables of ranks, process groups and clocks, and of what the traces cannot answer.

import type { RanksRow } from "kinetoscope/remote";
import { columnsOfKind } from "../../components/answer-table";
import { Panel } from "../../components/parts";
import { RankLink } from "../../components/rank-link";
import { Table } from "../../components/table";
import { label } from "../../model/format";
import type { OfKind } from "../../model/kinds";
import { shortRanges, type GroupRow, type RankRow } from "../../model/run";
import { TEXTS } from "../../strings";

const LABELS = TEXTS.ranks;

const PHASES = [
  "data_loading_ns",
  "forward_ns",
  "backward_ns",
  "optimizer_ns",
  "communication_ns",
  "other_ns",
] as const;
const RARE = ["bubble", "peak_bytes", "start_skew_ns", "windows"] as const;

/** Columns with values that differ from those of a rank without anything special. */
function usedIn(rows: readonly RankRow[]): (typeof PHASES | typeof RARE)[number][] {
  const phases = PHASES.filter((key) => rows.some((row) => row[key] > 0));
  const rare = RARE.filter((key) => rows.some((row) => (row[key] ?? 0) > (key === "windows" ? 1 : 0)));
  return [...phases, ...rare];
}

/** The column of the ranks of a group. */
export const ranksColumn = {
  title: LABELS.ranks,
  kind: "text",
  width: "minmax(76px, 1fr)",
  value: (row: { ranks: readonly number[] }) => shortRanges(row.ranks),
} as const;

/** The column of the name of a group: its description, if it has one. */
export const groupColumn = {
  title: LABELS.group,
  width: "minmax(84px, 1fr)",
  value: (row: GroupRow) => row.description || row.group,
} as const;

export function RankList({ ranks }: { ranks: readonly RankRow[] }) {
  return (
    <Panel title={LABELS.ranks} about={LABELS.tableHint} id="rank-list">
      <Table
        label={LABELS.ranks}
        fit={16}
        rows={ranks}
        keyOf={(row) => String(row.rank)}
        sort={{ key: "own_ns", descending: true }}
        columns={columnsOfKind<RankRow>(
          "ranks",
          ["rank", "own_ns", "waited_ns", ...usedIn(ranks), "last", "host", "trace"],
          {
            rank: { width: "84px", show: (row) => <RankLink rank={row.rank} trace={row.trace} /> },
            own_ns: { title: LABELS.own, bar: true, width: "minmax(90px, 130px)" },
            data_loading_ns: { width: "100px" },
            communication_ns: { width: "114px" },
            waited_ns: { bar: true, width: "minmax(90px, 130px)" },
            last: { title: LABELS.lastArrivals, width: "86px" },
            host: { width: "minmax(80px, 140px)" },
            trace: { width: "minmax(120px, 1fr)" },
          },
        )}
      />
    </Panel>
  );
}

export function Groups({ rows }: { rows: readonly OfKind<RanksRow, "group">[] }) {
  if (rows.length === 0) return null;
  return (
    <Panel title={LABELS.groups} about={LABELS.groupsHint} id="groups">
      <Table
        label={LABELS.groups}
        fit={10}
        rows={rows}
        keyOf={(row) => `${row.group} ${row.description} ${shortRanges(row.ranks, 400)}`}
        sort={{ key: "bytes", descending: true }}
        columns={columnsOfKind<OfKind<RanksRow, "group">>(
          "ranks",
          ["group", "parallelism", "stated", "ranks", "matched", "bytes"],
          {
            group: groupColumn,
            parallelism: { width: "100px" },
            stated: { width: "64px" },
            matched: { width: "80px" },
            bytes: { width: "80px" },
            ranks: ranksColumn,
          },
        )}
      />
    </Panel>
  );
}

export function Clocks({ rows }: { rows: readonly OfKind<RanksRow, "clock">[] }) {
  if (rows.length === 0) return null;
  return (
    <Panel title={LABELS.clocks} about={LABELS.clocksHint} id="clocks">
      <Table
        label={LABELS.clocks}
        fit={10}
        rows={rows}
        keyOf={(row) => String(row.rank)}
        sort={{ key: "rank", descending: false }}
        columns={columnsOfKind<OfKind<RanksRow, "clock">>(
          "ranks",
          ["rank", "offset_ns", "error_ns", "drift_ppm", "method"],
          {
            rank: { width: "64px" },
            offset_ns: { title: LABELS.offset },
            error_ns: { title: LABELS.error },
            drift_ppm: { title: LABELS.drift },
            method: {
              title: LABELS.method,
              value: (row) => row.refused ?? (row.method === null ? null : label(row.method)),
              width: "minmax(110px, 2fr)",
            },
          },
        )}
      />
    </Panel>
  );
}

export function Fitness({ rows }: { rows: readonly OfKind<RanksRow, "fitness">[] }) {
  if (rows.length === 0) return null;
  return (
    <Panel title={LABELS.fitness} about={LABELS.fitnessHint} id="fitness">
      <Table
        label={LABELS.fitness}
        fit={10}
        rows={rows}
        keyOf={(row) => `${row.question} ${row.verdict} ${row.message}`}
        columns={columnsOfKind<OfKind<RanksRow, "fitness">>("ranks", ["question", "verdict", "ranks", "message"], {
          question: { title: LABELS.question, width: "110px", show: (row) => label(row.question) },
          verdict: { title: LABELS.verdict, width: "76px" },
          ranks: { ...ranksColumn, width: "minmax(76px, 160px)" },
          message: { title: LABELS.because, width: "minmax(160px, 3fr)" },
        })}
      />
    </Panel>
  );
}
