// Collectives by group, kind and size, and when each rank arrived.

import { useMemo, useState } from "preact/hooks";
import type { RanksRow, RemoteRun } from "kinetoscope/remote";
import { columnsOfKind } from "../../components/answer-table";
import { Await, Panel } from "../../components/parts";
import { SkewChart } from "../../components/skew-chart";
import { Table } from "../../components/table";
import { amount } from "../../model/format";
import { ofKind, type OfKind } from "../../model/kinds";
import { groupKey, isOf, shortRanges, skewOf, type CollectiveRow, type GroupRow } from "../../model/run";
import { ask } from "../../state/ask";
import { numberParam, param, setParams } from "../../state/route";
import { TEMPLATES, TEXTS } from "../../strings";
import { groupColumn, ranksColumn } from "./tables";

const LABELS = TEXTS.ranks;

/** The number of ranks up to which the arrivals are loaded without a click: their answer has a number for each rank. */
const FEW = 64;

type Group = OfKind<RanksRow, "group">;
type TrafficRow = OfKind<RanksRow, "bandwidth">;

const keyOf = (row: TrafficRow): string => `${groupKey(row)} ${row.name} ${row.bytes}`;

function Traffic({ rows, onGroup }: { rows: readonly TrafficRow[]; onGroup: (row: GroupRow) => void }) {
  return (
    <Table
      label={LABELS.collectives}
      fit={10}
      rows={rows}
      keyOf={keyOf}
      sort={{ key: "waited_ns", descending: true }}
      onOpen={(key) => {
        const row = rows.find((one) => key === keyOf(one));
        if (row) onGroup(row);
      }}
      columns={columnsOfKind<TrafficRow>(
        "ranks",
        ["name", "bytes", "group", "ranks", "count", "waited_ns", "usual_transfer_ns", "bus_bytes_per_second", "nodes"],
        {
          name: { width: "minmax(120px, 1fr)" },
          group: groupColumn,
          ranks: ranksColumn,
          count: { width: "70px" },
          waited_ns: { bar: true },
          usual_transfer_ns: { title: LABELS.transfer },
          bus_bytes_per_second: {
            title: LABELS.busBandwidth,
            width: "112px",
            show: (row) =>
              row.bus_bytes_per_second === null ? "–" : TEMPLATES.perSecond(amount(row.bus_bytes_per_second)),
          },
          nodes: { title: LABELS.machines, width: "86px" },
        },
      )}
    />
  );
}

function Arrivals({ rows, group }: { rows: readonly CollectiveRow[]; group: Group }) {
  const skew = useMemo(() => skewOf(rows, group), [rows, group]);
  const latest = useMemo(() => {
    const lasts = new Map<number, number>();
    for (const row of rows) {
      if (isOf(row, group)) lasts.set(row.last_rank, (lasts.get(row.last_rank) ?? 0) + 1);
    }
    return [...lasts].sort((a, b) => b[1] - a[1])[0]?.[0];
  }, [rows, group]);
  const given = numberParam("of");
  const rank = given !== undefined && skew.ranks.includes(given) ? given : (latest ?? skew.ranks[0] ?? 0);
  if (skew.seconds.length === 0) return <p class="quiet">{LABELS.noArrivals}</p>;
  return (
    <>
      <div class="toolbar">
        <label class="select">
          {LABELS.highlight}{" "}
          <select data-highlight value={rank} onChange={(event) => setParams({ of: event.currentTarget.value })}>
            {skew.ranks.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <span class="quiet">{LABELS.arrivalsTip}</span>
      </div>
      <SkewChart skew={skew} rank={rank} />
    </>
  );
}

export function Collectives({ run, rows }: { run: RemoteRun; rows: readonly RanksRow[] }) {
  const [traffic, groups] = useMemo(() => [ofKind(rows, "bandwidth"), ofKind(rows, "group")], [rows]);
  const [wanted, setWanted] = useState(run.length <= FEW);
  if (traffic.length === 0) return null;
  const first = [...traffic].sort((a, b) => b.waited_ns - a.waited_ns)[0] as TrafficRow;
  const groupWith = (row: GroupRow): Group | undefined => groups.find((one) => isOf(row, one));
  const group = groups.find((one) => groupKey(one) === param("group")) ?? groupWith(first) ?? groups[0];
  const choose = (key: string): void => {
    setWanted(true);
    setParams({ group: key });
  };
  const chooseOf = (row: GroupRow): void => {
    const found = groupWith(row);
    if (found) choose(groupKey(found));
  };
  return (
    <>
      <Panel title={LABELS.collectives} about={LABELS.collectivesHint} id="collectives">
        <Traffic rows={traffic} onGroup={chooseOf} />
      </Panel>
      {group ? (
        <Panel
          title={LABELS.arrivals}
          about={LABELS.arrivalsHint}
          id="arrivals"
          actions={
            <label class="select">
              {LABELS.group}{" "}
              <select data-group value={groupKey(group)} onChange={(event) => choose(event.currentTarget.value)}>
                {groups.map((one) => (
                  <option key={groupKey(one)} value={groupKey(one)}>
                    {TEMPLATES.groupOf(one.description || one.group, shortRanges((one.ranks ?? []) as number[]))}
                  </option>
                ))}
              </select>
            </label>
          }
        >
          {wanted ? (
            <Await
              answer={ask(run, "collectives", async (from) => {
                return ofKind(await from.ranks({ kinds: ["collective"] }), "collective");
              })}
            >
              {(found) => <Arrivals rows={found} group={group} />}
            </Await>
          ) : (
            <button type="button" onClick={() => setWanted(true)}>
              {LABELS.loadArrivals}
            </button>
          )}
        </Panel>
      ) : null}
    </>
  );
}
