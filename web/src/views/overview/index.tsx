// Overview: key numbers, findings and data quality.

import { useState } from "preact/hooks";
import { IDLE_CAUSES } from "kinetoscope/columns";
import type { DeviceTime, SummaryRow } from "kinetoscope/remote";
import { Bar, Await, Card, Head, Panel, To } from "../../components/parts";
import { copy } from "../../components/download";
import { Save } from "../../components/save";
import { FitnessLine } from "../../components/fitness";
import { JoinButton } from "../../components/join-button";
import { FindingList } from "../../components/finding-list";
import { RankTable } from "../../components/rank-table";
import { StepChart } from "../../components/step-chart";
import { Table } from "../../components/table";
import { windowParts } from "../../model/device";
import { bytes, count, exact, share, time } from "../../model/format";
import { rowsOf, valueOf } from "../../state/ask";
import { go } from "../../state/route";
import { relation, type OpenTrace } from "../../state/session";
import { IdleOf } from "../findings/causes";
import { HINTS, TEMPLATES, TEXTS } from "../../strings";
import { Totals } from "../totals";
import { DataQuality } from "./data-quality";
import { Tops } from "./tops";

const LABELS = TEXTS.overview;
const SHARED = TEXTS.shared;

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
      {open.info.operators > 0 ? (
        <>
          <Card id="self-cpu" label={SHARED.selfCpu} {...ns(summary.self_cpu_time_total_ns)} about={HINTS.selfCpu} />
          <Card id="operators" label={SHARED.operators} value={count(open.info.operators)} about={HINTS.operators} />
        </>
      ) : null}
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
        <JoinButton />
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
              {summary.bound ? (
                <p class="bound" data-bound={summary.bound.by}>
                  {summary.bound.message}.
                </p>
              ) : null}
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
