// The largest of each kind: operators, kernels, tracks, modules, functions by samples, and the memory of a snapshot.

import { useMemo } from "preact/hooks";
import type { SummaryRow } from "kinetoscope/remote";
import { columnsOf } from "../../components/answer-table";
import { Panel, To } from "../../components/parts";
import { Table } from "../../components/table";
import { shortName } from "../../model/short-name";
import { sorted } from "../../model/sorting";
import { rowsOf, valueOf } from "../../state/ask";
import type { OpenTrace } from "../../state/session";
import { HINTS, TEXTS } from "../../strings";

const LABELS = TEXTS.overview;
const SHARED = TEXTS.shared;

const TOP = [
  { key: "name", title: SHARED.name, kind: "text", about: LABELS.nameHint },
  { key: "count", title: SHARED.calls, kind: "int", about: LABELS.callsHint, width: "72px" },
] as const;

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

/** Functions by their samples of call stacks. */
function TopFunctions({ summary }: { summary: SummaryRow }) {
  if (summary.top_functions.length === 0) return null;
  const all = (
    <To view="flame" with={{ order: "samples" }}>
      {LABELS.all}
    </To>
  );
  return (
    <Panel title={LABELS.topFunctions} id="top-functions" actions={all}>
      <Table
        label={LABELS.topFunctions}
        fit={10}
        rows={summary.top_functions}
        keyOf={(row) => row.name}
        columns={[
          TOP[0],
          { key: "own", title: LABELS.own, kind: "int", about: LABELS.ownHint, bar: true },
          { key: "samples", title: LABELS.samples, kind: "int", about: LABELS.samplesHint, bar: true },
        ]}
      />
    </Panel>
  );
}

/** The memory of each device in a snapshot. */
function SnapshotMemory({ summary }: { summary: SummaryRow }) {
  if (summary.memory.length === 0) return null;
  return (
    <Panel title={LABELS.memory} id="snapshot-memory" actions={<To view="memory">{LABELS.all}</To>}>
      <Table
        label={LABELS.memory}
        fit={10}
        rows={summary.memory}
        keyOf={(row) => row.device}
        columns={[
          { key: "device", title: SHARED.device, kind: "text", about: LABELS.memoryDeviceHint, width: "90px" },
          { key: "segments", title: LABELS.segments, kind: "int", about: LABELS.segmentsHint, width: "90px" },
          { key: "reserved_bytes", title: LABELS.reserved, kind: "bytes", about: LABELS.reservedHint },
          { key: "allocated_bytes", title: LABELS.allocated, kind: "bytes", about: LABELS.allocatedHint },
          { key: "largest_free_bytes", title: LABELS.largestFree, kind: "bytes", about: LABELS.largestFreeHint },
        ]}
      />
    </Panel>
  );
}

export function Tops({ summary, open }: { summary: SummaryRow; open: OpenTrace }) {
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
      <TopFunctions summary={summary} />
      <SnapshotMemory summary={summary} />
      <TopModules open={open} />
    </div>
  );
}
