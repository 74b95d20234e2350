// Kernels, memcpys and memsets.

import type { KernelsRow } from "kinetoscope/remote";
import { AnswerTable, columnsOf } from "../components/answer-table";
import { Instances } from "../components/instances";
import { Await, Head, Missing, To } from "../components/parts";
import { ask, rowsOf } from "../state/ask";
import { trackNames } from "../state/tracks";
import { param, setParams } from "../state/route";
import type { OpenTrace } from "../state/session";
import { PAGE_TEXTS, TEXTS } from "../strings";

const LABELS = TEXTS.kernels;
const SHARED = TEXTS.shared;

const KEYS = ["short_name", "class", "sum_ns", "share", "mean_ns", "min_ns", "max_ns", "count"] as const;
const RARE = ["occupancy_percent", "bytes_per_second", "flops_per_second", "op"] as const;

function columns(rows: readonly KernelsRow[]) {
  const used = RARE.filter((key) => rows.some((row) => row[key] !== null));
  return columnsOf("kernels", [...KEYS, ...used], {
    short_name: { width: "minmax(190px, 3fr)" },
    class: { width: "110px" },
    sum_ns: { bar: true },
    share: { width: "76px" },
    count: { width: "78px" },
    occupancy_percent: { title: LABELS.occupancyPercent, width: "78px" },
    op: {
      width: "minmax(100px, 1fr)",
      show: (row) =>
        row.op ? (
          <To view="operators" with={{ q: row.op }}>
            {row.op}
          </To>
        ) : (
          "–"
        ),
    },
  });
}

export function Kernels({ open }: { open: OpenTrace }) {
  const wanted = param("class") ?? "";
  const tracks = trackNames(open.trace);
  const detail = (row: KernelsRow) => (
    <>
      <p class="full-name">{row.name}</p>
      <Instances
        answer={ask(open.trace, `kernels ${row.name}`, (trace) => trace.find([row.name], { deviceWorkOnly: true }))}
        tracks={tracks}
      />
      <p>
        {row.op ? (
          <>
            <To view="operators" with={{ q: row.op }}>
              {PAGE_TEXTS.inOperators}
            </To>{" "}
            ·{" "}
          </>
        ) : null}
        <To view="timeline" with={{ q: row.short_name }}>
          {PAGE_TEXTS.inTimeline}
        </To>
      </p>
    </>
  );
  return (
    <>
      <Head view="kernels" />
      <Await answer={rowsOf(open.trace, "kernels")}>
        {(found) => {
          if (found.length === 0) return <Missing of="kernels" />;
          const classes = [...new Set(found.flatMap((row) => row.class ?? []))];
          return (
            <AnswerTable
              label={SHARED.kernels}
              trace={open.trace}
              query="kernels"
              rows={wanted ? found.filter((row) => row.class === wanted) : found}
              columns={columns(found)}
              keyOf={(row) => `${row.class} ${row.name}`}
              textOf={(row) => row.name}
              sort={{ key: "sum_ns", descending: true }}
              detail={detail}
            >
              <label class="select">
                Class{" "}
                <select value={wanted} onChange={(event) => setParams({ class: event.currentTarget.value })}>
                  <option value="">{LABELS.all}</option>
                  {classes.map((one) => (
                    <option key={one} value={one}>
                      {one}
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
