// A stacked bar chart of the steps.

import { useMemo } from "preact/hooks";
import uPlot from "uplot";
import type { StepsRow } from "kinetoscope/remote";
import { time } from "../model/format";
import { STEP_PARTS } from "../model/steps";
import { TEMPLATES } from "../strings";
import { axis, Chart } from "./chart";
import { hint } from "./hints";
import { COLUMNS } from "kinetoscope/columns";

const about = (key: string): string => COLUMNS.steps.find((column) => column.key === key)?.about ?? "";

/** Returns the parts that take time in at least one step. */
export function usedParts(steps: readonly StepsRow[]): (typeof STEP_PARTS)[number][] {
  return STEP_PARTS.filter((part) => steps.some((step) => step[part.key] > 0));
}

export function StepChart({
  steps,
  height = 200,
  onStep,
}: {
  steps: readonly StepsRow[];
  height?: number;
  onStep?: (at: number) => void;
}) {
  const parts = useMemo(() => usedParts(steps), [steps]);
  const data = useMemo((): uPlot.AlignedData => {
    const sums = steps.map(() => 0);
    // Each series is drawn from zero to its cumulative sum, the highest first; the lower ones cover it.
    const tops = parts.map((part) => steps.map((step, at) => (sums[at] = (sums[at] as number) + step[part.key])));
    return [steps.map((_, at) => at), ...tops.reverse()];
  }, [steps, parts]);
  const options = useMemo(
    () => (color: (name: string) => string) => ({
      legend: { show: false },
      cursor: { points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: (): uPlot.Range.MinMax => [-0.6, steps.length - 0.4] },
        y: { range: (_: uPlot, __: number, max: number): uPlot.Range.MinMax => [0, max * 1.05] },
      },
      axes: [
        axis(color, {
          values: (_: uPlot, ticks: number[]) =>
            ticks.map((at) => (Number.isInteger(at) ? String(steps[at]?.step ?? "") : "")),
          grid: { show: false },
        }),
        axis(color, { values: (_: uPlot, ticks: number[]) => ticks.map(time), size: 64 }),
      ],
      series: [
        {},
        ...[...parts].reverse().map((part) => ({
          label: part.label,
          fill: color(part.color),
          stroke: color(part.color),
          width: 0,
          paths: (uPlot.paths.bars as uPlot.Series.BarsPathBuilderFactory)({ size: [0.7, 80] }),
          points: { show: false },
        })),
      ],
      hooks: {
        ready: [
          (chart: uPlot) =>
            chart.over.addEventListener(
              "click",
              () => typeof chart.cursor.idx === "number" && onStep?.(chart.cursor.idx),
            ),
        ],
      },
    }),
    [steps, parts, onStep],
  );
  const label = TEMPLATES.stepBreakdown(steps.length);
  return (
    <>
      <Chart label={label} options={options} data={data} height={height} />
      <ul class="legend">
        {parts.map((part) => (
          <li key={part.key} {...hint(about(part.key))}>
            <span class="swatch" style={{ background: `var(${part.color})` }} /> {part.label}
          </li>
        ))}
      </ul>
    </>
  );
}
