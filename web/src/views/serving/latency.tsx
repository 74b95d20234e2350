// The distribution of the wall times of each phase, with the percentiles of the answer.

import { useMemo } from "preact/hooks";
import type { ServingGroupRow } from "kinetoscope/remote";
import { MarksChart, type MarkAxis } from "../../components/marks-chart";
import { Panel } from "../../components/parts";
import { count, label, time, timeTicks } from "../../model/format";
import { histogram } from "../../model/histogram";
import { scaleOf, type Mark } from "../../model/marks";
import { binsFor, steadyOf, type Serving } from "../../model/serving";
import { TEMPLATES, TEXTS } from "../../strings";
import { Phase, styleOf, type Colors } from "./phase";

const LABELS = TEXTS.serving;

interface Props {
  serving: Serving;
  colors: Colors;
}

const wallsOf = (serving: Serving, phase: string | null): Float64Array =>
  Float64Array.from(steadyOf(serving.iterations.filter((row) => row.phase === phase)), (row) => row.wall_ns);

function Distribution({ row, walls, color }: { row: ServingGroupRow; walls: Float64Array; color: string }) {
  const bins = useMemo(() => histogram(walls, binsFor(walls.length)), [walls]);
  const { counts, edges, isLogarithmic } = bins;
  const chart = useMemo(() => {
    const edge = (at: number): number => edges[at] ?? 0;
    const marks = counts.map((high, at): Mark => ({ left: edge(at), right: edge(at + 1), low: 0, high, color, at }));
    const x: MarkAxis = { title: "", ...scaleOf(edges), isLogarithmic, format: timeTicks };
    const y: MarkAxis = {
      title: "",
      ...scaleOf([0, ...counts]),
      isLogarithmic: false,
      format: (ticks) => ticks.map((tick) => count(tick ?? 0)),
      isCount: true,
    };
    const percentiles = [
      [50, row.p50_ns],
      [90, row.p90_ns],
      [99, row.p99_ns],
    ] as const;
    const lines = percentiles.map(([percent, at]) => ({ at, text: TEMPLATES.percentile(percent, time(at)) }));
    return { marks: marks.filter((mark) => mark.high > 0), lines, x, y };
  }, [bins, row, color]);
  return (
    <MarksChart
      {...chart}
      label={TEMPLATES.latencyChart(label(row.phase ?? ""), walls.length)}
      height={210}
      tip=""
      about={(at) => TEMPLATES.histogramBin(count(counts[at] ?? 0), time(edges[at] ?? 0), time(edges[at + 1] ?? 0))}
    />
  );
}

export function Latency({ serving, colors }: Props) {
  const phases = useMemo(() => serving.phases.map((row) => ({ row, walls: wallsOf(serving, row.phase) })), [serving]);
  return (
    <Panel title={LABELS.latency} about={LABELS.latencyHint} id="latency">
      <div class="columns">
        {phases.map(({ row, walls }) => (
          <div key={row.phase} data-latency={row.phase} class={walls.length === 1 ? "single" : undefined}>
            <h3>
              <Phase colors={colors} phase={row.phase} />{" "}
              <small>
                {TEMPLATES.iterations(walls.length)}
                {walls.length === 1 ? `, ${time(row.p50_ns)}` : ""}
              </small>
            </h3>
            {walls.length > 1 ? <Distribution row={row} walls={walls} color={styleOf(colors, row.phase)} /> : null}
          </div>
        ))}
      </div>
    </Panel>
  );
}
