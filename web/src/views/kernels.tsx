// Kernels, memcpys and memsets, by name or by what they come from.

import { useMemo } from "preact/hooks";
import type { KernelsOptions, KernelsRow } from "kinetoscope/remote";
import { AnswerTable, columnsOf } from "../components/answer-table";
import { Instances } from "../components/instances";
import { Await, Head, Missing, To } from "../components/parts";
import { SourceText } from "../components/source";
import { ask, rowsOf } from "../state/ask";
import { trackNames } from "../state/tracks";
import { param, setParams } from "../state/route";
import type { OpenTrace } from "../state/session";
import { PAGE_TEXTS, TEXTS } from "../strings";

const LABELS = TEXTS.kernels;
const SHARED = TEXTS.shared;

type By = NonNullable<KernelsOptions["by"]>;

const isGroup = (text: string | undefined): text is By => text !== undefined && text in LABELS.groups;

const PLACES = ["source", "annotation"] as const;
const KEYS = ["sum_ns", "share", "mean_ns", "min_ns", "max_ns", "count"] as const;
const RARE = ["occupancy_percent", "bytes_per_second", "flops_per_second", "op"] as const;

/** The columns that are the same as the name of a group. */
const OWN: Partial<Record<By, keyof KernelsRow>> = { operator: "op", source: "source", annotation: "annotation" };

function columns(rows: readonly KernelsRow[], by: By) {
  const isUsed = (key: keyof KernelsRow): boolean => key !== OWN[by] && rows.some((row) => row[key] !== null);
  const isKernel = by === "name" || by === "shape";
  const name = by === "name" ? "short_name" : "name";
  const keys = [
    name,
    ...(isKernel ? (["class"] as const) : []),
    ...PLACES.filter(isUsed),
    ...KEYS,
    ...RARE.filter(isUsed),
  ] as const;
  return columnsOf("kernels", keys, {
    short_name: { width: "minmax(190px, 3fr)" },
    name: {
      title: isKernel ? SHARED.name : LABELS.groups[by].replace(/^./, (letter) => letter.toUpperCase()),
      width: "minmax(230px, 3fr)",
      wrap: by === "source",
      ...(by === "source"
        ? { show: (row) => (row.source === null ? row.name : <SourceText source={row.source} by={row.source_by} />) }
        : {}),
    },
    class: { width: "110px" },
    source: {
      width: "minmax(172px, 1.2fr)",
      wrap: true,
      show: (row) => (row.source === null ? "–" : <SourceText short source={row.source} by={row.source_by} />),
    },
    annotation: { width: "minmax(110px, 1fr)" },
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
  const chosen = param("by");
  const by = isGroup(chosen) ? chosen : "name";
  const options: KernelsOptions = useMemo(() => (by === "name" ? {} : { by }), [by]);
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
      <Await answer={rowsOf(open.trace, "kernels", options)}>
        {(found) => {
          if (found.length === 0) return <Missing of="kernels" />;
          const classes = [...new Set(found.flatMap((row) => row.class ?? []))];
          return (
            <AnswerTable
              label={SHARED.kernels}
              trace={open.trace}
              query="kernels"
              options={options}
              rows={wanted ? found.filter((row) => row.class === wanted) : found}
              columns={columns(found, by)}
              keyOf={(row) => `${row.class} ${row.name}`}
              textOf={(row) => row.name}
              sort={{ key: "sum_ns", descending: true }}
              {...(by === "name" ? { detail } : {})}
            >
              <label class="select" data-hint={LABELS.groupHint}>
                Group by{" "}
                <select
                  value={by}
                  data-group
                  onChange={({ currentTarget: { value } }) =>
                    setParams({ by: value === "name" ? undefined : value, open: undefined, class: undefined })
                  }
                >
                  {Object.entries(LABELS.groups).map(([value, text]) => (
                    <option key={value} value={value}>
                      {text}
                    </option>
                  ))}
                </select>
              </label>
              {classes.length === 0 ? null : (
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
              )}
            </AnswerTable>
          );
        }}
      </Await>
    </>
  );
}
