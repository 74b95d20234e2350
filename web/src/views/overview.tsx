// Overview: key numbers, findings and data quality.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { DeviceTime, DataQualityRow, SummaryRow } from "kinetoscope/remote";
import { Bar, Await, Card, Head, Panel, To } from "../components/parts";
import { columnsOf } from "../components/answer-table";
import { copy } from "../components/download";
import { Save } from "../components/save";
import { FitnessLine } from "../components/fitness";
import { FindingList } from "../components/finding-list";
import { RankTable } from "../components/rank-table";
import { StepChart } from "../components/step-chart";
import { Table } from "../components/table";
import { windowParts } from "../model/device";
import { bytes, count, exact, share, time } from "../model/format";
import { sorted } from "../model/sorting";
import { shortName } from "../model/short-name";
import { rowsOf, valueOf } from "../state/ask";
import { go, param } from "../state/route";
import { relation, type OpenTrace } from "../state/session";
import { IdleOf } from "./findings/causes";
import { HINTS, IDLE_CAUSES, TEMPLATES, TEXTS } from "../strings";
import { Totals } from "./totals";

const LABELS = TEXTS.overview;
const SHARED = TEXTS.shared;

const TOP = [
  { key: "name", title: SHARED.name, kind: "text", about: LABELS.nameHint },
  { key: "count", title: SHARED.calls, kind: "int", about: LABELS.callsHint, width: "72px" },
] as const;

function Cards({ summary, open }: { summary: SummaryRow; open: OpenTrace }) {
  const [device, ...others] = summary.devices;
  const ns = (value: number): { value: string; exact: string } => ({ value: time(value), exact: exact("ns", value) });
  return (
    <div class="cards">
      <Card
        id="wall"
        label={LABELS.wallTime}
        {...ns(summary.wall_ns)}
        about={HINTS.wall}
        note={TEMPLATES.events(count(open.info.events))}
      />
      {summary.steps > 0 ? (
        <Card
          id="steps"
          label={SHARED.steps}
          value={count(summary.steps)}
          about={HINTS.steps}
          note={TEMPLATES.meanStep(time(summary.mean_step_ns ?? 0))}
        />
      ) : null}
      <Card id="self-cpu" label={SHARED.selfCpu} {...ns(summary.self_cpu_time_total_ns)} about={HINTS.selfCpu} />
      <Card id="operators" label={SHARED.operators} value={count(open.info.operators)} about={HINTS.operators} />
      {device ? (
        <>
          <Card
            id="busy"
            label={TEMPLATES.gpuCard(device.device, "busy")}
            {...ns(device.busy_ns)}
            about={HINTS.deviceBusy}
            note={TEMPLATES.shareOfWall(share(device.busy_ns / (summary.wall_ns || 1)))}
          />
          <Card
            id="sum"
            label={TEMPLATES.gpuCard(device.device, "sum")}
            {...ns(device.sum_ns)}
            about={HINTS.deviceSum}
            note={TEMPLATES.activities(count(device.activities))}
          />
          <Card
            id="idle"
            label={TEMPLATES.gpuCard(device.device, "idle")}
            {...ns(device.idle_ns)}
            about={HINTS.deviceIdle}
            note={
              others.length > 0
                ? TEMPLATES.moreDevices(others.length)
                : TEMPLATES.shareOfWindow(share(device.idle_ns / (device.window_ns || 1)), time(device.window_ns))
            }
          />
        </>
      ) : null}
      <Peaks open={open} />
    </div>
  );
}

/** The memory peaks of up to two devices, if memory was recorded. */
function Peaks({ open }: { open: OpenTrace }) {
  const devices = (valueOf(rowsOf(open.trace, "memory").value) ?? []).filter((row) => row.kind === "device");
  return (
    <>
      {devices.slice(0, 2).map((row) => (
        <Card
          key={row.device}
          id={`memory ${row.device}`}
          label={TEMPLATES.devicePeak(row.device)}
          value={bytes(row.peak_bytes ?? 0)}
          exact={exact("bytes", row.peak_bytes)}
          about={HINTS.peak}
          note={<To view="memory">{TEXTS.memory.ownersAtPeak}</To>}
        />
      ))}
    </>
  );
}

/** The modules with the largest self time. */
function TopModules({ open }: { open: OpenTrace }) {
  const modules = valueOf(rowsOf(open.trace, "modules").value) ?? [];
  const hasDevice = modules.some((row) => row.device_time_total_ns > 0);
  const own = hasDevice ? "self_device_time_total_ns" : "self_cpu_time_total_ns";
  const rows = useMemo(() => sorted(modules, (row) => row[own], true).slice(0, 10), [modules, own]);
  if (rows.length === 0) return null;
  return (
    <Panel title={LABELS.topModules} id="top-modules" actions={<To view="modules">{LABELS.all}</To>}>
      <Table
        label={LABELS.topModules}
        fit={10}
        rows={rows}
        keyOf={(row) => row.path}
        columns={columnsOf("modules", ["path", "count", own], {
          path: {
            title: SHARED.name,
            show: (row) => (
              <To view="modules" with={{ q: row.path }}>
                {row.path.split("/").slice(-2).join("/")}
              </To>
            ),
          },
          count: { width: "72px" },
          [own]: { bar: true },
        })}
      />
    </Panel>
  );
}

function Device({ device, open }: { device: DeviceTime; open: OpenTrace }) {
  const [isOpen, toggle] = useState(false);
  return (
    <div class="device" data-device={device.device}>
      <h3>
        {TEMPLATES.device(device.device)} <small>{TEMPLATES.deviceWindow(time(device.window_ns))}</small>
      </h3>
      <Bar label={TEMPLATES.device(device.device)} parts={windowParts(device)} />
      {device.idle_ns > 0 ? (
        <details class="why-idle" onToggle={(event) => toggle(event.currentTarget.open)}>
          <summary>{LABELS.whyIdle}</summary>
          {isOpen ? <IdleOf open={open} device={device.device} /> : null}
        </details>
      ) : null}
    </div>
  );
}

function Gaps({ summary }: { summary: SummaryRow }) {
  if (summary.top_idle.length === 0) return null;
  return (
    <Panel title={LABELS.longestIdleGaps} about={HINTS.deviceIdle} id="gaps">
      <Table
        label={LABELS.longestIdleGaps}
        fit={8}
        rows={summary.top_idle.map((gap, at) => ({ ...gap, at }))}
        keyOf={(gap) => String(gap.at)}
        columns={[
          { key: "device", title: SHARED.device, kind: "text", about: LABELS.idleDeviceHint, width: "70px" },
          { key: "idle_ns", title: SHARED.idle, kind: "ns", about: LABELS.idleTimeHint, bar: true },
          {
            key: "cause",
            title: LABELS.cause,
            kind: "text",
            about: HINTS.idleCause,
            width: "120px",
            show: (gap) => IDLE_CAUSES[gap.cause].label,
          },
          { key: "after", title: LABELS.endedBy, kind: "text", about: LABELS.endedByHint },
          {
            key: "start_ns",
            title: SHARED.at,
            kind: "ns",
            about: SHARED.startHint,
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

function Tops({ summary, open }: { summary: SummaryRow; open: OpenTrace }) {
  return (
    <div class="columns">
      {summary.top_operators.length > 0 ? (
        <Panel title={LABELS.topOperators} id="top-operators" actions={<To view="operators">{LABELS.all}</To>}>
          <Table
            label={LABELS.topOperators}
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
                title: SHARED.selfCpu,
                kind: "ns",
                about: LABELS.selfCpuHint,
                bar: true,
              },
              summary.devices.length > 0
                ? {
                    key: "device_time_total_ns",
                    title: SHARED.device,
                    kind: "ns",
                    about: LABELS.deviceTimeHint,
                    bar: true,
                  }
                : { key: "cpu_time_total_ns", title: SHARED.cpuTotal, kind: "ns", about: HINTS.cpuTotal, bar: true },
            ]}
          />
        </Panel>
      ) : null}
      {summary.top_kernels.length > 0 ? (
        <Panel title={LABELS.topKernels} id="top-kernels" actions={<To view="kernels">{LABELS.all}</To>}>
          <Table
            label={LABELS.topKernels}
            fit={10}
            rows={summary.top_kernels}
            keyOf={(row) => row.name + row.class}
            columns={[
              {
                ...TOP[0],
                show: (row) => (
                  <To view="kernels" with={{ q: row.name }}>
                    {shortName(row.name)}
                  </To>
                ),
              },
              TOP[1],
              { key: "sum_ns", title: SHARED.total, kind: "ns", about: LABELS.kernelTotalHint, bar: true },
            ]}
          />
        </Panel>
      ) : null}
      {summary.top_operators.length === 0 && summary.top_tracks.length > 0 ? (
        <Panel title={LABELS.busiestTracks} id="top-tracks" actions={<To view="timeline">{LABELS.timeline}</To>}>
          <Table
            label={LABELS.busiestTracks}
            fit={10}
            rows={summary.top_tracks}
            keyOf={(row) => row.name}
            columns={[
              TOP[0],
              { key: "spans", title: LABELS.spans, kind: "int", about: LABELS.spansHint },
              { key: "time_ns", title: SHARED.time, kind: "ns", about: LABELS.trackTimeHint, bar: true },
            ]}
          />
        </Panel>
      ) : null}
      <TopModules open={open} />
    </div>
  );
}

function DataQuality({ checks, isBelowAll }: { checks: readonly DataQualityRow[]; isBelowAll: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const isWanted = param("at") === "data-quality";
  useEffect(() => {
    if (isWanted && isBelowAll) place.current?.scrollIntoView({ block: "start" });
  }, [isWanted, isBelowAll]);
  const identities = checks.filter((row) => row.kind === "identity");
  const diagnostics = checks.filter((row) => row.kind !== "identity");
  const broken = identities.filter((row) => row.holds === false);
  return (
    <div ref={place}>
      <Panel title={LABELS.dataQuality} about={HINTS.dataQuality} id="data-quality">
        <p class={broken.length > 0 ? "failure" : "good"} data-identities={broken.length === 0 ? "holds" : "broken"}>
          {broken.length === 0
            ? TEMPLATES.identitiesHold(identities.length)
            : TEMPLATES.identitiesBroken(broken.length, identities.length)}
        </p>
        <details open={broken.length > 0}>
          <summary>{LABELS.identities}</summary>
          <ul class="checks">
            {identities.map((row) => (
              <li key={row.name} class={row.holds ? "" : "failure"}>
                <span aria-hidden="true">{row.holds ? "✓" : "✗"}</span> {row.name}: {count(row.left ?? 0)} and{" "}
                {count(row.right ?? 0)}
              </li>
            ))}
          </ul>
        </details>
        {diagnostics.length > 0 ? (
          <ul class="checks">
            {diagnostics.map((row) => (
              <li key={row.name} data-diagnostic={row.name}>
                <span class={`severity ${row.kind}`}>{row.kind}</span> {row.description} <b>{count(row.count ?? 0)}×</b>
                {row.first_offset === null ? "" : TEMPLATES.firstOffset(count(row.first_offset))}
                {row.example ? <code>{row.example}</code> : null}
              </li>
            ))}
          </ul>
        ) : (
          <p class="good">{LABELS.noDiagnostics}</p>
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
          data-hint={LABELS.copyAsTextHint}
          onClick={async () => copy(await open.trace.table("summary"))}
        >
          {LABELS.copyAsText}
        </button>
        <Save trace={open.trace} query="summary" />
        <span class="quiet">
          {[open.info.producer, ...open.info.devices.slice(0, 1), open.info.host].filter(Boolean).join(" · ")}
        </span>
      </Head>
      {open.large ? (
        <>
          <Totals large={open.large} />
          <p class="quiet" data-part>
            {TEMPLATES.partBelow(time(open.large.window.start), time(open.large.window.end))}
          </p>
        </>
      ) : null}
      <Await answer={rowsOf(open.trace, "summary")}>
        {([summary]) =>
          summary ? (
            <>
              <FitnessLine fitness={summary.fitness} />
              <Cards summary={summary} open={open} />
              {relation.value === "ranks" ? <RankTable /> : null}
              {summary.findings.length > 0 ? (
                <Panel title={SHARED.findings} id="findings" actions={<To view="findings">{LABELS.all}</To>}>
                  <FindingList findings={summary.findings.slice(0, 4)} />
                </Panel>
              ) : null}
              {summary.devices.length > 0 ? (
                <Panel title={LABELS.deviceTime} about={`${HINTS.deviceBusy} ${HINTS.exposed}`} id="devices">
                  {summary.devices.map((device) => (
                    <Device key={device.device} device={device} open={open} />
                  ))}
                </Panel>
              ) : null}
              {steps.length > 1 ? (
                <Panel title={SHARED.steps} id="steps" actions={<To view="steps">{LABELS.all}</To>}>
                  <StepChart steps={steps} onStep={(at) => go("steps", { open: steps[at]?.name })} />
                </Panel>
              ) : null}
              <Tops summary={summary} open={open} />
              <Gaps summary={summary} />
            </>
          ) : null
        }
      </Await>
      <Await answer={rowsOf(open.trace, "check")}>
        {(checks) => (
          <DataQuality checks={checks} isBelowAll={rowsOf(open.trace, "summary").value.state !== "waiting"} />
        )}
      </Await>
    </>
  );
}
