// Iterations over time by phase, and their wall times by size.

import { useMemo } from "preact/hooks";
import type { ServingIterationRow } from "kinetoscope/remote";
import { MarksChart, type MarkAxis } from "../../components/marks-chart";
import { Panel } from "../../components/parts";
import { Tabs } from "../../components/tabs";
import { amount, count, label, time, timeTicks } from "../../model/format";
import { scaleOf, type Mark } from "../../model/marks";
import { sizesOf, type Serving, type Size } from "../../model/serving";
import { go, param, setParams } from "../../state/route";
import { TEMPLATES, TEXTS } from "../../strings";
import { Phase, placeOf, styleOf, type Colors } from "./phase";

const LABELS = TEXTS.serving;

interface Props {
  serving: Serving;
  colors: Colors;
}

/** Describes an iteration. */
function aboutOf(row: ServingIterationRow | undefined): string {
  if (!row) return "";
  const { batch, tokens } = row;
  return [
    TEMPLATES.iteration(row.name, label(row.phase), time(row.wall_ns), time(row.start_ns)),
    ...(batch === null ? [] : [TEMPLATES.requests(count(batch))]),
    ...(tokens === null ? [] : [TEMPLATES.tokens(count(tokens))]),
  ].join(" · ");
}

/** Opens an iteration in the timeline. */
const openIn = (rows: readonly ServingIterationRow[]) => (at: number) => {
  const row = rows[at];
  if (row) go("timeline", placeOf(row));
};

const amounts = (ticks: readonly (number | null)[]): string[] => ticks.map((at) => (at === null ? "" : amount(at)));

/** The axis of lanes, which is not a range of values. */
function laneAxis(lanes: readonly string[]): MarkAxis {
  return { title: "", range: [-0.5, lanes.length - 0.5], isLogarithmic: false, format: () => [], lanes };
}

export function InTime({ serving, colors }: Props) {
  const { phases, iterations } = serving;
  const chart = useMemo(() => {
    const names = phases.map((row) => row.phase);
    const marks = iterations.map((row, at): Mark => {
      const lane = names.length - 1 - names.indexOf(row.phase);
      const color = styleOf(colors, row.phase);
      const [left, right] = [row.start_ns, row.start_ns + Math.max(row.range_ns, 1)];
      return { left, right, low: lane - 0.36, high: lane + 0.36, color, at };
    });
    const { range } = scaleOf([0, ...marks.flatMap((mark) => [mark.left, mark.right])]);
    const x: MarkAxis = { title: LABELS.timeAxis, range, isLogarithmic: false, format: timeTicks };
    return { marks, x, y: laneAxis(names.map((name) => label(name ?? ""))), onPick: openIn(iterations) };
  }, [serving, colors]);
  return (
    <Panel title={LABELS.inTime} about={LABELS.inTimeHint} id="phases-in-time">
      <MarksChart
        {...chart}
        label={TEMPLATES.phaseChart(iterations.length, phases.length)}
        height={54 + 30 * phases.length}
        tip={LABELS.chartTip}
        about={(at) => aboutOf(iterations[at])}
      />
    </Panel>
  );
}

function Dots({ serving, colors, size }: Props & { size: Size }) {
  const { iterations } = serving;
  const chart = useMemo(() => {
    const marks = iterations.flatMap((row, at): Mark[] => {
      const x = row[size];
      if (x === null) return [];
      return [{ left: x, right: x, low: row.wall_ns, high: row.wall_ns, color: styleOf(colors, row.phase), at }];
    });
    const scale = scaleOf(marks.map((mark) => mark.left));
    const x: MarkAxis = { title: LABELS.sizes[size].label, ...scale, format: amounts, isCount: true };
    const y: MarkAxis = { title: LABELS.wallAxis, ...scaleOf(marks.map((mark) => mark.low)), format: timeTicks };
    return { marks, x, y, onPick: openIn(iterations) };
  }, [serving, colors, size]);
  const missing = iterations.length - chart.marks.length;
  return (
    <>
      <MarksChart
        {...chart}
        label={TEMPLATES.sizeChart(chart.marks.length, LABELS.sizes[size].label)}
        height={290}
        tip={LABELS.chartTip}
        about={(at) => aboutOf(iterations[at])}
      />
      <ul class="legend">
        {[...colors.keys()].map((phase) => (
          <li key={phase}>
            <Phase colors={colors} phase={phase} />
          </li>
        ))}
      </ul>
      {missing > 0 ? <p class="quiet">{TEMPLATES.withoutSize(missing, LABELS.sizes[size].label)}</p> : null}
    </>
  );
}

export function BySize({ serving, colors }: Props) {
  const sizes = sizesOf(serving.iterations);
  const size = sizes.find((one) => one === param("size")) ?? sizes[0];
  const choice = (
    <Tabs
      label={LABELS.bySize}
      of={LABELS.sizes}
      value={size ?? "batch"}
      onChange={(next) => setParams({ size: next })}
    />
  );
  return (
    <Panel
      title={LABELS.bySize}
      about={LABELS.bySizeHint}
      id="wall-by-size"
      actions={sizes.length > 1 ? choice : undefined}
    >
      {size ? <Dots serving={serving} colors={colors} size={size} /> : <p class="quiet">{LABELS.noSize}</p>}
    </Panel>
  );
}
