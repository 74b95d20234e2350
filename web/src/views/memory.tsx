// Memory over time, the peak with its owners, and allocations that were never released.

import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import type { CountersRow, Curve, MemoryRow, OpsRow } from "kinetoscope/remote";
import { Save } from "../components/save";
import { axis, Chart } from "../components/chart";
import { AnswerTable, columnsOf, columnsOfKind } from "../components/answer-table";
import { Await, Card, Head, Missing, Panel, To } from "../components/parts";
import { Table } from "../components/table";
import { bytes, count, exact, time } from "../model/format";
import { ofKind, type OfKind } from "../model/kinds";
import { ask, rowsOf } from "../state/ask";
import { numberParam, param, setParams } from "../state/route";
import type { OpenTrace } from "../state/session";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../strings";

const LABELS = TEXTS.memory;
const SHARED = TEXTS.shared;

/** The number of points of a curve. */
const POINTS = 1200;

/** Powers of two: round distances between the ticks of a byte axis. */
const BINARY = Array.from({ length: 50 }, (_, power) => 2 ** power);

function DeviceCards({ row }: { row: OfKind<MemoryRow, "device"> }) {
  const size = (label: string, value: number | null, about: string, note?: string) =>
    value === null ? null : (
      <Card
        id={`${row.device} ${label}`}
        label={label}
        value={bytes(value)}
        exact={exact("bytes", value)}
        about={about}
        note={note}
      />
    );
  return (
    <div class="cards">
      {size(LABELS.peak, row.peak_bytes, LABELS.peakHint, TEMPLATES.peakTime(time(row.at_ns)))}
      {size(LABELS.reservedPeak, row.reserved_bytes, LABELS.reservedPeakHint)}
      {size(
        LABELS.totalAllocated,
        row.allocated_bytes,
        LABELS.totalAllocatedHint,
        TEMPLATES.allocations(count(row.count)),
      )}
      {size(LABELS.growth, row.growth_bytes, LABELS.growthHint)}
    </div>
  );
}

interface Drawn {
  start: number;
  end: number;
  allocated: Curve | undefined;
  reserved: Curve | undefined;
}

function MemoryChart({ drawn, peakAt }: { drawn: Drawn; peakAt: number | null }) {
  const { start, end, allocated, reserved } = drawn;
  const data = useMemo((): uPlot.AlignedData => {
    const times = Array.from({ length: POINTS }, (_, at) => start + ((end - start) * (at + 0.5)) / POINTS);
    const values = (curve: Curve | undefined): (number | null)[] =>
      times.map((_, at) => (curve && !Number.isNaN(curve.high[at]) ? (curve.high[at] ?? null) : null));
    return [times, values(allocated), values(reserved)];
  }, [drawn]);
  const options = useMemo(
    () => (color: (name: string) => string) => ({
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
      scales: {
        x: { time: false },
        y: { range: (_: uPlot, __: number, max: number): uPlot.Range.MinMax => [0, max * 1.05 || 1] },
      },
      axes: [
        axis(color, { values: (_: uPlot, ticks: number[]) => ticks.map(time) }),
        axis(color, { values: (_: uPlot, ticks: number[]) => ticks.map(bytes), size: 70, incrs: BINARY }),
      ],
      series: [
        {},
        {
          label: LABELS.allocated,
          stroke: color("--curve"),
          fill: color("--curve-fill"),
          width: 1.5,
          points: { show: false },
        },
        { label: LABELS.reserved, stroke: color("--c-memcpy"), width: 1.5, dash: [5, 4], points: { show: false } },
      ],
      hooks: {
        setSelect: [
          (chart: uPlot) => {
            if (chart.select.width < 3) return;
            const from = chart.posToVal(chart.select.left, "x");
            const to = chart.posToVal(chart.select.left + chart.select.width, "x");
            chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            setParams({ start: Math.round(from), end: Math.round(to) }, "step");
          },
        ],
        draw: [
          (chart: uPlot) => {
            if (peakAt === null || peakAt < start || peakAt > end) return;
            const x = chart.valToPos(peakAt, "x", true);
            chart.ctx.fillStyle = color("--arrow");
            chart.ctx.fillRect(x - 1, chart.bbox.top, 2, chart.bbox.height);
          },
        ],
      },
    }),
    [drawn, peakAt],
  );
  return <Chart label={TEMPLATES.memoryOverTime(time(start), time(end))} options={options} data={data} height={240} />;
}

function Device(props: {
  open: OpenTrace;
  row: OfKind<MemoryRow, "device">;
  rows: readonly MemoryRow[];
  counters: readonly CountersRow[];
}) {
  const { open, row, rows, counters } = props;
  const find = (name: string) =>
    counters.find((counter) => counter.process === row.device && counter.name === name)?.counter;
  const [allocated, reserved] = [find("memory allocated"), find("memory reserved")];
  const [start, end] = [numberParam("start") ?? 0, numberParam("end") ?? open.info.wall_ns];
  const curve = (counter: number | undefined): Promise<Curve | undefined> =>
    counter === undefined
      ? Promise.resolve(undefined)
      : open.trace.curve({ counter, startNs: start, endNs: end, pixels: POINTS });
  const drawn = ask(open.trace, `memory ${row.device} ${start} ${end}`, async (): Promise<Drawn> => ({
    start,
    end,
    allocated: await curve(allocated),
    reserved: await curve(reserved),
  }));
  const atPeak = ofKind(rows, "at_peak").filter((one) => one.device === row.device);
  const kept = ofKind(rows, "kept").filter((one) => one.device === row.device);
  return (
    <div class="memory-device" data-memory-device={row.device}>
      <DeviceCards row={row} />
      <Panel
        title={TEMPLATES.deviceOverTime(row.device)}
        about={LABELS.chartHint}
        actions={
          <>
            <button
              type="button"
              disabled={param("start") === undefined}
              onClick={() => setParams({ start: undefined, end: undefined }, "step")}
            >
              {PAGE_TEXTS.showAll}
            </button>
            <To
              view="timeline"
              with={{ start: row.at_ns - open.info.wall_ns * 0.01, end: row.at_ns + open.info.wall_ns * 0.01 }}
            >
              {LABELS.peakInTheTimeline}
            </To>
          </>
        }
      >
        <Await answer={drawn}>{(value) => <MemoryChart drawn={value} peakAt={row.at_ns} />}</Await>
      </Panel>
      <div class="columns">
        <Owners title={LABELS.ownersAtPeak} about={LABELS.ownersAtPeakHint} rows={atPeak} withShare />
        <Owners title={LABELS.neverReleased} about={LABELS.neverReleasedHint} rows={kept} />
      </div>
    </div>
  );
}

type Owner = OfKind<MemoryRow, "at_peak" | "kept">;

function Owners(props: { title: string; about: string; rows: readonly Owner[]; withShare?: boolean }) {
  if (props.rows.length === 0) return null;
  const columns = columnsOfKind<Owner>(
    "memory",
    ["name", "allocated_bytes", ...(props.withShare ? (["share"] as const) : []), "count"],
    {
      name: {
        title: LABELS.owner,
        show: (row) =>
          row.name.startsWith("(") ? (
            row.name
          ) : (
            <To view="operators" with={{ q: row.name }}>
              {row.name}
            </To>
          ),
      },
      allocated_bytes: { title: LABELS.held, bar: true },
      share: { width: "80px" },
      count: { title: LABELS.allocations, width: "100px" },
    },
  );
  return (
    <Panel title={props.title} about={props.about}>
      <Table
        label={props.title}
        fit={10}
        rows={props.rows}
        columns={columns}
        keyOf={(row) => `${row.name} ${row.at_ns}`}
        sort={{ key: "allocated_bytes", descending: true }}
      />
    </Panel>
  );
}

function ByOperator({ open, ops }: { open: OpenTrace; ops: readonly OpsRow[] }) {
  const rows = ops.filter((row) => row.self_cpu_memory_usage_bytes !== 0 || row.self_device_memory_usage_bytes !== 0);
  if (rows.length === 0) return null;
  const hasDevice = rows.some((row) => row.self_device_memory_usage_bytes !== 0);
  const keys = [
    "name",
    ...(hasDevice ? (["self_device_memory_usage_bytes", "device_memory_usage_bytes"] as const) : []),
    "self_cpu_memory_usage_bytes",
    "cpu_memory_usage_bytes",
    "count",
  ] as const;
  return (
    <Panel title={LABELS.netAllocationByOperator} id="memory-operators">
      <AnswerTable
        label={LABELS.memoryByOperator}
        trace={open.trace}
        query="ops"
        rows={rows}
        fit={12}
        columns={columnsOf("ops", keys, {
          name: {
            title: LABELS.operator,
            show: (row) => (
              <To view="operators" with={{ q: row.name }}>
                {row.name}
              </To>
            ),
          },
          self_device_memory_usage_bytes: { title: SHARED.selfDevice },
          device_memory_usage_bytes: { title: SHARED.deviceTotal },
          self_cpu_memory_usage_bytes: { title: SHARED.selfCpu },
          cpu_memory_usage_bytes: { title: SHARED.cpuTotal },
          count: { title: SHARED.calls },
        })}
        keyOf={(row) => `${row.name} ${row.device_type} ${row.is_user_annotation}`}
        textOf={(row) => row.name}
        sort={{ key: hasDevice ? "self_device_memory_usage_bytes" : "self_cpu_memory_usage_bytes", descending: true }}
      />
    </Panel>
  );
}

function All({
  open,
  rows,
  counters,
}: {
  open: OpenTrace;
  rows: readonly MemoryRow[];
  counters: readonly CountersRow[];
}) {
  const devices = ofKind(rows, "device").sort((a, b) => Number(a.device === "CPU") - Number(b.device === "CPU"));
  const at = Math.max(
    0,
    devices.findIndex((row) => row.device === param("device")),
  );
  const device = devices[at];
  const failures = ofKind(rows, "out_of_memory");
  return (
    <>
      {failures.length > 0 ? (
        <p class="failure" role="status">
          {TEMPLATES.failedAllocations(count(failures.reduce((sum, row) => sum + row.count, 0)))}
        </p>
      ) : null}
      {devices.length > 1 ? (
        <div class="tabs" role="tablist" aria-label={LABELS.devices}>
          {devices.map((one, position) => (
            <button
              key={one.device}
              type="button"
              role="tab"
              aria-selected={position === at}
              onClick={() => setParams({ device: one.device })}
            >
              {one.device}
            </button>
          ))}
        </div>
      ) : null}
      {device ? <Device key={device.device} open={open} row={device} rows={rows} counters={counters} /> : null}
      <Await answer={rowsOf(open.trace, "ops")}>{(ops) => <ByOperator open={open} ops={ops} />}</Await>
    </>
  );
}

export function MemoryView({ open }: { open: OpenTrace }) {
  return (
    <>
      <Head view="memory">
        <Save trace={open.trace} query="memory" />
      </Head>
      <Await answer={rowsOf(open.trace, "memory")}>
        {(rows) =>
          rows.length === 0 ? (
            <Missing of="memory" />
          ) : (
            <Await answer={rowsOf(open.trace, "counters")}>
              {(counters) => <All open={open} rows={rows} counters={counters} />}
            </Await>
          )
        }
      </Await>
    </>
  );
}
