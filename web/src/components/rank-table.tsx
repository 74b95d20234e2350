// Compares the ranks of a run.

import { rankOf } from "../model/ranks";
import { share, time } from "../model/format";
import { rowsOf, valueOf } from "../state/ask";
import { addressOf } from "../state/route";
import { traces } from "../state/session";
import { Panel } from "./parts";
import { Table } from "./table";
import { TEXTS } from "../strings";

const LABELS = TEXTS.rankTable;
const SHARED = TEXTS.shared;

export function RankTable() {
  const rows = traces.value.map(({ trace, name, info }, at) => {
    const [summary] = valueOf(rowsOf(trace, "summary").value) ?? [];
    const devices = summary?.devices ?? [];
    const sum = (of: (device: (typeof devices)[number]) => number): number =>
      devices.reduce((all, device) => all + of(device), 0);
    const exposed = (wanted: string): number =>
      sum((device) => device.classes.find((one) => one.class === wanted)?.exposed_ns ?? 0);
    const window = sum((device) => device.window_ns);
    return {
      at,
      name,
      rank: rankOf({ name, rank: info.rank, worldSize: info.world_size }) ?? at,
      wall_ns: summary?.wall_ns ?? null,
      step_ns: summary?.mean_step_ns ?? null,
      busy_ns: sum((device) => device.busy_ns),
      busy: window > 0 ? sum((device) => device.busy_ns) / window : null,
      communication_ns: exposed("communication"),
      idle_ns: sum((device) => device.idle_ns),
    };
  });
  return (
    <Panel title={LABELS.ranks} about={LABELS.ranksHint} id="ranks">
      <Table
        label={LABELS.ranks}
        fit={16}
        rows={rows}
        keyOf={(row) => row.name}
        sort={{ key: "rank", descending: false }}
        columns={[
          {
            key: "rank",
            title: LABELS.rank,
            kind: "int",
            about: LABELS.rankHint,
            width: "80px",
            show: (row) => <a href={addressOf("overview", { trace: row.at || undefined })}>{row.rank}</a>,
          },
          {
            key: "wall_ns",
            title: SHARED.wall,
            kind: "ns",
            about: LABELS.wallHint,
            bar: true,
          },
          { key: "step_ns", title: LABELS.meanStep, kind: "ns", about: LABELS.meanStepHint, bar: true },
          {
            key: "busy_ns",
            title: LABELS.busy,
            kind: "ns",
            about: LABELS.busyHint,
            bar: true,
            show: (row) => (row.busy === null ? "–" : `${time(row.busy_ns)} · ${share(row.busy)}`),
            width: "minmax(120px, 160px)",
          },
          {
            key: "communication_ns",
            title: LABELS.exposedCommunication,
            kind: "ns",
            about: LABELS.exposedCommunicationHint,
            bar: true,
            width: "minmax(120px, 170px)",
          },
          { key: "idle_ns", title: SHARED.idle, kind: "ns", about: LABELS.idleHint, bar: true },
          { key: "name", title: LABELS.file, kind: "text", about: LABELS.fileHint },
        ]}
      />
    </Panel>
  );
}
