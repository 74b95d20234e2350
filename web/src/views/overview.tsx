// Overview: the few numbers that matter, what to do first, and how far to trust them.

import { useEffect, useRef } from "preact/hooks";
import type { DeviceTime, LedgerRow, SummaryRow } from "kinetoscope/remote";
import { Bar, Await, Card, Head, Panel, To } from "../components/parts";
import { copy, save } from "../components/download";
import { FindingList } from "../components/finding-list";
import { RankTable } from "../components/rank-table";
import { StepChart } from "../components/step-chart";
import { Table } from "../components/table";
import { windowParts } from "../model/device";
import { count, exact, share, time } from "../model/format";
import { rowsOf, valueOf } from "../state/ask";
import { go, param } from "../state/route";
import { relation, type OpenTrace } from "../state/session";
import { HINTS, T } from "../strings";

const TOP = [
  { key: "name", title: "Name", kind: "text", about: "The name." },
  { key: "count", title: "Calls", kind: "int", about: "How often.", width: "72px" },
] as const;

function Cards({ summary, open }: { summary: SummaryRow; open: OpenTrace }) {
  const [device, ...others] = summary.devices;
  const ns = (value: number): { value: string; exact: string } => ({ value: time(value), exact: exact("ns", value) });
  return (
    <div class="cards">
      <Card
        id="wall"
        label="Wall time"
        {...ns(summary.wall_ns)}
        about={HINTS.wall}
        note={`${count(open.info.events)} events`}
      />
      {summary.steps > 0 ? (
        <Card
          id="steps"
          label="Steps"
          value={count(summary.steps)}
          about={HINTS.steps}
          note={`${time(summary.mean_step_ns ?? 0)} each`}
        />
      ) : null}
      <Card id="self-cpu" label="Self CPU" {...ns(summary.self_cpu_time_total_ns)} about={HINTS.selfCpu} />
      {device ? (
        <>
          <Card
            id="busy"
            label={`GPU ${device.device} busy`}
            {...ns(device.busy_ns)}
            about={HINTS.deviceBusy}
            note={`${share(device.busy_ns / (summary.wall_ns || 1))} of wall time`}
          />
          <Card
            id="sum"
            label={`GPU ${device.device} sum`}
            {...ns(device.sum_ns)}
            about={HINTS.deviceSum}
            note={`${count(device.activities)} activities`}
          />
          <Card
            id="idle"
            label={`GPU ${device.device} idle`}
            {...ns(device.idle_ns)}
            about={HINTS.deviceIdle}
            note={
              others.length > 0
                ? `and ${others.length} more devices`
                : `${share(device.idle_ns / (device.window_ns || 1))} of its ${time(device.window_ns)}`
            }
          />
        </>
      ) : null}
    </div>
  );
}

function Device({ device }: { device: DeviceTime }) {
  return (
    <div class="device" data-device={device.device}>
      <h3>
        Device {device.device} <small>{time(device.window_ns)} from its first activity to its last</small>
      </h3>
      <Bar label={`Device ${device.device}`} parts={windowParts(device)} />
    </div>
  );
}

function Gaps({ summary }: { summary: SummaryRow }) {
  if (summary.top_idle.length === 0) return null;
  return (
    <Panel title="Longest idle gaps" about={HINTS.deviceIdle} id="gaps">
      <Table
        label="Longest idle gaps"
        fit={8}
        rows={summary.top_idle.map((gap, at) => ({ ...gap, at }))}
        keyOf={(gap) => String(gap.at)}
        columns={[
          { key: "device", title: "Device", kind: "text", about: "The device that was idle.", width: "70px" },
          { key: "idle_ns", title: "Idle", kind: "ns", about: "How long.", bar: true },
          {
            key: "cause",
            title: "Cause",
            kind: "text",
            about: `${HINTS.hostLate} ${HINTS.hostWaiting} ${HINTS.queued}`,
            width: "120px",
          },
          { key: "after", title: "Ended by", kind: "text", about: "The first work after the gap." },
          {
            key: "start_ns",
            title: "At",
            kind: "ns",
            about: "When it began, after the start of the recording.",
            show: (gap) => (
              <To
                view="timeline"
                with={{ start: gap.start_ns - gap.idle_ns * 0.3, end: gap.start_ns + gap.idle_ns * 1.3 }}
              >
                {time(gap.start_ns)}
              </To>
            ),
          },
        ]}
      />
    </Panel>
  );
}

function Tops({ summary }: { summary: SummaryRow }) {
  return (
    <div class="columns">
      {summary.top_operators.length > 0 ? (
        <Panel title="Top operators" id="top-operators" actions={<To view="operators">All</To>}>
          <Table
            label="Top operators"
            fit={10}
            rows={summary.top_operators}
            keyOf={(row) => row.name}
            columns={[
              {
                ...TOP[0],
                show: (row) => (
                  <To view="operators" with={{ q: row.name }}>
                    {row.name}
                  </To>
                ),
              },
              TOP[1],
              {
                key: "self_cpu_time_total_ns",
                title: "Self CPU",
                kind: "ns",
                about: "Time on the CPU, without that of the events called inside.",
                bar: true,
              },
              ...(summary.devices.length > 0
                ? [
                    {
                      key: "device_time_total_ns",
                      title: "Device",
                      kind: "ns" as const,
                      about: "Sum of the device work that it and what it called launched.",
                      bar: true,
                    },
                  ]
                : []),
            ]}
          />
        </Panel>
      ) : null}
      {summary.top_kernels.length > 0 ? (
        <Panel title="Top kernels" id="top-kernels" actions={<To view="kernels">All</To>}>
          <Table
            label="Top kernels"
            fit={10}
            rows={summary.top_kernels}
            keyOf={(row) => row.name + row.class}
            columns={[
              {
                ...TOP[0],
                show: (row) => (
                  <To view="kernels" with={{ q: row.name }}>
                    {row.name}
                  </To>
                ),
              },
              TOP[1],
              { key: "sum_ns", title: "Total", kind: "ns", about: "Sum of the durations.", bar: true },
            ]}
          />
        </Panel>
      ) : null}
      {summary.top_operators.length === 0 && summary.top_tracks.length > 0 ? (
        <Panel title="Busiest lanes" id="top-tracks" actions={<To view="timeline">Timeline</To>}>
          <Table
            label="Busiest lanes"
            fit={10}
            rows={summary.top_tracks}
            keyOf={(row) => row.name}
            columns={[
              TOP[0],
              { key: "spans", title: "Spans", kind: "int", about: "Events with a duration." },
              { key: "time_ns", title: "Time", kind: "ns", about: "Time in which any span was open.", bar: true },
            ]}
          />
        </Panel>
      ) : null}
    </div>
  );
}

function Trust({ ledger, isBelowAll }: { ledger: readonly LedgerRow[]; isBelowAll: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const isWanted = param("at") === "trust";
  useEffect(() => {
    if (isWanted && isBelowAll) place.current?.scrollIntoView({ block: "start" });
  }, [isWanted, isBelowAll]);
  const identities = ledger.filter((row) => row.kind === "identity");
  const oddities = ledger.filter((row) => row.kind !== "identity");
  const broken = identities.filter((row) => row.holds === false);
  return (
    <div ref={place}>
      <Panel title="Can these numbers be trusted?" about={HINTS.trust} id="trust">
        <p class={broken.length > 0 ? "failure" : "good"} data-trust={broken.length === 0 ? "holds" : "broken"}>
          {broken.length === 0
            ? `All ${identities.length} identities hold.`
            : `${broken.length} of ${identities.length} identities do not hold.`}
        </p>
        <details open={broken.length > 0}>
          <summary>Identities</summary>
          <ul class="ledger">
            {identities.map((row) => (
              <li key={row.name} class={row.holds ? "" : "failure"}>
                <span aria-hidden="true">{row.holds ? "✓" : "✗"}</span> {row.name}: {count(row.left ?? 0)} and{" "}
                {count(row.right ?? 0)}
              </li>
            ))}
          </ul>
        </details>
        {oddities.length > 0 ? (
          <ul class="ledger">
            {oddities.map((row) => (
              <li key={row.name} data-oddity={row.name}>
                <span class={`severity ${row.kind}`}>{row.kind}</span> {row.description} <b>{count(row.count ?? 0)}×</b>
                {row.first_offset === null ? "" : `, first at byte ${count(row.first_offset)}`}
                {row.example ? <code>{row.example}</code> : null}
              </li>
            ))}
          </ul>
        ) : (
          <p class="good">Nothing odd was met in the file.</p>
        )}
      </Panel>
    </div>
  );
}

export function Overview({ open }: { open: OpenTrace }) {
  const steps = valueOf(rowsOf(open.trace, "steps").value) ?? [];
  return (
    <>
      <Head view="overview">
        <button
          type="button"
          data-hint="The page that kinetoscope TRACE prints, as text"
          onClick={async () => copy(await open.trace.table("summary"))}
        >
          Copy as text
        </button>
        <button
          type="button"
          data-hint={T.jsonHint}
          onClick={async () => save(`${open.name}.summary.json`, "application/json", await open.trace.json("summary"))}
        >
          {T.json}
        </button>
        <span class="quiet">
          {[open.info.producer, ...open.info.devices.slice(0, 1), open.info.host].filter(Boolean).join(" · ")}
        </span>
      </Head>
      <Await answer={rowsOf(open.trace, "summary")}>
        {([summary]) =>
          summary ? (
            <>
              <Cards summary={summary} open={open} />
              {relation.value === "ranks" ? <RankTable /> : null}
              {summary.findings.length > 0 ? (
                <Panel title="Findings, dearest first" id="findings" actions={<To view="findings">All</To>}>
                  <FindingList findings={summary.findings.slice(0, 4)} />
                </Panel>
              ) : null}
              {summary.devices.length > 0 ? (
                <Panel title="Where the device's time went" about={`${HINTS.deviceBusy} ${HINTS.exposed}`} id="devices">
                  {summary.devices.map((device) => (
                    <Device key={device.device} device={device} />
                  ))}
                </Panel>
              ) : null}
              {steps.length > 1 ? (
                <Panel title="Steps" id="steps" actions={<To view="steps">All</To>}>
                  <StepChart steps={steps} onStep={(at) => go("steps", { open: steps[at]?.name })} />
                </Panel>
              ) : null}
              <Tops summary={summary} />
              <Gaps summary={summary} />
            </>
          ) : null
        }
      </Await>
      <Await answer={rowsOf(open.trace, "ledger")}>
        {(ledger) => <Trust ledger={ledger} isBelowAll={rowsOf(open.trace, "summary").value.state !== "waiting"} />}
      </Await>
    </>
  );
}
