// Operators: PyTorch's key averages, with PyTorch's columns and groupings.

import { useMemo } from "preact/hooks";
import type { OpsOptions, OpsRow } from "kinetoscope/remote";
import { AnswerTable, columnsOf } from "../components/answer-table";
import { Instances } from "../components/instances";
import { Await, Head, Missing, To } from "../components/parts";
import { ask, rowsOf } from "../state/ask";
import { trackNames } from "../state/tracks";
import { param, setParams } from "../state/route";
import type { OpenTrace } from "../state/session";
import { PAGE_TEXTS, TEXTS } from "../strings";

const LABELS = TEXTS.operators;
const SHARED = TEXTS.shared;

/** A row with its position, which `instances` takes. */
type Row = OpsRow & { at: number };

const GROUPS = [
  { value: "", label: LABELS.byName, by: [] },
  { value: "shape", label: LABELS.byShapes, by: ["shape"] },
  { value: "stack", label: LABELS.byStack, by: ["stack:5"] },
  { value: "overload", label: LABELS.byOverload, by: ["overload"] },
  { value: "module", label: LABELS.byModule, by: ["module"] },
] as const satisfies readonly { value: string; label: string; by: NonNullable<OpsOptions["groupBy"]> }[];

function columns(rows: readonly Row[], group: string) {
  const has = (key: keyof OpsRow): boolean => rows.some((row) => row[key] !== 0);
  const keys: (keyof OpsRow & string)[] = ["name"];
  if (group === "shape") keys.push("input_shapes");
  if (group === "stack" || group === "module") keys.push("stack");
  if (group === "overload") keys.push("overload_name");
  keys.push("self_cpu_time_total_ns", "cpu_time_total_ns");
  if (has("device_time_total_ns")) keys.push("self_device_time_total_ns", "device_time_total_ns");
  if (has("self_cpu_memory_usage_bytes")) keys.push("self_cpu_memory_usage_bytes");
  if (has("self_device_memory_usage_bytes")) keys.push("self_device_memory_usage_bytes");
  if (has("flops")) keys.push("flops");
  keys.push("count");
  const bar = { bar: true };
  const made = columnsOf("ops", keys, {
    name: { title: SHARED.name, width: "minmax(240px, 3fr)" },
    self_cpu_time_total_ns: { title: SHARED.selfCpu, ...bar },
    cpu_time_total_ns: { title: SHARED.cpuTotal, ...bar },
    self_device_time_total_ns: { title: SHARED.selfDevice, ...bar },
    device_time_total_ns: { title: SHARED.deviceTotal, ...bar },
    self_cpu_memory_usage_bytes: { title: LABELS.cpuMem },
    self_device_memory_usage_bytes: { title: LABELS.deviceMem },
    flops: { title: LABELS.flops, kind: "amount" },
    count: { title: SHARED.calls, width: "78px" },
    input_shapes: { title: LABELS.inputShapes, width: "minmax(160px, 1fr)" },
    stack: {
      title: group === "module" ? "Module" : "Stack",
      width: "minmax(160px, 1fr)",
      value: (row) => row.stack.join(" ← ").replace("nn.Module: ", ""),
    },
  });
  const at = made.findIndex((column) => column.key === "count");
  const mean = {
    title: LABELS.cpuAvg,
    kind: "ns" as const,
    about: LABELS.cpuAvgHint,
    key: "cpu_time_ns",
    value: (row: OpsRow) => row.cpu_time_total_ns / row.count,
  };
  return [...made.slice(0, at), mean, ...made.slice(at)];
}

export function Operators({ open }: { open: OpenTrace }) {
  const group = GROUPS.find((one) => one.value === param("group")) ?? GROUPS[0];
  const options: OpsOptions = useMemo(() => (group.by.length > 0 ? { groupBy: group.by } : {}), [group]);
  const tracks = trackNames(open.trace);
  const detail = (row: OpsRow) => {
    const { at } = row as Row;
    return (
      <>
        {row.stack.length > 0 ? <p class="stack">{row.stack.join("\n")}</p> : null}
        <Instances
          answer={ask(open.trace, `instances ${at} ${group.value}`, (trace) => trace.instances(at, options))}
          tracks={tracks}
        />
        <p>
          <To view="flame" with={{ q: row.name }}>
            {PAGE_TEXTS.inCallTree}
          </To>{" "}
          ·{" "}
          <To view="timeline" with={{ q: row.name }}>
            {PAGE_TEXTS.inTimeline}
          </To>
        </p>
      </>
    );
  };
  return (
    <>
      <Head view="operators" />
      <Await answer={rowsOf(open.trace, "ops", options)}>
        {(found) => {
          if (found.length === 0) return <Missing of="operators" />;
          const rows: Row[] = found.map((row, at) => ({ ...row, at }));
          const byDevice = rows.some((row) => row.self_device_time_total_ns > 0);
          return (
            <AnswerTable
              label={SHARED.operators}
              trace={open.trace}
              query="ops"
              options={options}
              rows={rows}
              columns={columns(rows, group.value)}
              keyOf={(row) => String((row as Row).at)}
              textOf={(row) => row.name}
              sort={{ key: byDevice ? "self_device_time_total_ns" : "self_cpu_time_total_ns", descending: true }}
              detail={detail}
            >
              <label class="select">
                Group by{" "}
                <select
                  value={group.value}
                  data-group
                  onChange={(event) => setParams({ group: event.currentTarget.value, open: undefined })}
                >
                  {GROUPS.map((one) => (
                    <option key={one.value} value={one.value}>
                      {one.label}
                    </option>
                  ))}
                </select>
              </label>
            </AnswerTable>
          );
        }}
      </Await>
    </>
  );
}
