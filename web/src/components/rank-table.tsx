// The ranks of a run side by side.

import { rankOf } from "../model/ranks";
import { share, time } from "../model/format";
import { rowsOf, valueOf } from "../state/ask";
import { addressOf } from "../state/route";
import { traces } from "../state/session";
import { Panel } from "./parts";
import { Table } from "./table";
import { TEXTS } from "../strings";

const S = TEXTS.rankTable;
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
    <Panel title={S.ranks} about={S.theTracesOfOneRun} id="ranks">
      <Table
        label={S.ranks}
        fit={16}
        rows={rows}
        keyOf={(row) => row.name}
        sort={{ key: "rank", descending: false }}
        columns={[
          {
            key: "rank",
            title: S.rank,
            kind: "int",
            about: S.theRankByDistributedinfoOr,
            width: "80px",
            show: (row) => <a href={addressOf("overview", { trace: row.at || undefined })}>{row.rank}</a>,
          },
          {
            key: "wall_ns",
            title: SHARED.wall,
            kind: "ns",
            about: S.fromTheFirstEventTo,
            bar: true,
          },
          { key: "step_ns", title: S.meanStep, kind: "ns", about: S.theMeanWallTimeOf, bar: true },
          {
            key: "busy_ns",
            title: S.busy,
            kind: "ns",
            about: S.timeInWhichAnyDevice,
            bar: true,
            show: (row) => (row.busy === null ? "–" : `${time(row.busy_ns)} · ${share(row.busy)}`),
            width: "minmax(120px, 160px)",
          },
          {
            key: "communication_ns",
            title: S.exposedCommunication,
            kind: "ns",
            about: S.communicationWithNothingElseRunning,
            bar: true,
            width: "minmax(120px, 170px)",
          },
          { key: "idle_ns", title: SHARED.idle, kind: "ns", about: S.theDevicesWindowWithoutIts, bar: true },
          { key: "name", title: S.file, kind: "text", about: S.theFile },
        ]}
      />
    </Panel>
  );
}
