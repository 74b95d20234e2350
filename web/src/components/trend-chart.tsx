// A chart of a metric over the runs of a history, with its levels and where they change.

import { useMemo } from "preact/hooks";
import uPlot from "uplot";
import { rangeOf, shown, type Series } from "../model/trend";
import { TEMPLATES } from "../strings";
import { axis, Chart } from "./chart";

const HEIGHT = 142;

/** The pointer is at the same run in all charts. */
const SYNC = "trend";

type Color = (name: string) => string;

/** Draws a vertical line before each run that changed the metric, and a line at the mean of each level. */
function drawLevels(chart: uPlot, { changes, levels }: Series, color: Color): void {
  const { ctx: context, bbox: box } = chart;
  const [x, y] = [(run: number) => chart.valToPos(run, "x", true), (value: number) => chart.valToPos(value, "y", true)];
  const line = (from: [number, number], to: [number, number]): void => {
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
  };
  context.save();
  context.lineWidth = 2 * uPlot.pxRatio;
  context.strokeStyle = color("--text");
  for (const { from, to, value } of levels) line([x(from - 0.5), y(value)], [x(to + 0.5), y(value)]);
  context.setLineDash([4 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
  for (const { run, before, after } of changes) {
    context.strokeStyle = color(after > before ? "--bad" : "--good");
    line([x(run - 0.5), box.top], [x(run - 0.5), box.top + box.height]);
  }
  context.restore();
}

function optionsOf(series: Series, onRun: (at: number | undefined) => void) {
  return (color: Color): Omit<uPlot.Options, "width" | "height"> => ({
    legend: { show: false },
    padding: [6, 8, 0, 0],
    cursor: { sync: { key: SYNC }, y: false, drag: { x: false, y: false }, points: { size: 7 } },
    scales: {
      x: { time: false, range: (): uPlot.Range.MinMax => [0.5, series.values.length + 0.5] },
      y: { range: (): uPlot.Range.MinMax => rangeOf(series) },
    },
    axes: [
      axis(color, { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], space: 36, grid: { show: false }, size: 30 }),
      axis(color, {
        values: (_: uPlot, ticks: number[]) => ticks.map((tick) => shown(series.unit, tick)),
        size: 66,
        space: 28,
      }),
    ],
    series: [
      {},
      {
        stroke: color("--curve"),
        width: 1,
        spanGaps: false,
        points: { show: true, size: series.values.length > 80 ? 3 : 5, fill: color("--curve") },
      },
    ],
    hooks: {
      draw: [(chart: uPlot) => drawLevels(chart, series, color)],
      setCursor: [(chart: uPlot) => onRun(chart.cursor.idx ?? undefined)],
    },
  });
}

/** `onRun` gets the position of the run under the pointer. */
export function TrendChart({ series, onRun }: { series: Series; onRun: (at: number | undefined) => void }) {
  const data = useMemo((): uPlot.AlignedData => [series.values.map((_, at) => at + 1), [...series.values]], [series]);
  const options = useMemo(() => optionsOf(series, onRun), [series, onRun]);
  return <Chart label={TEMPLATES.trendOf(series.metric)} options={options} data={data} height={HEIGHT} />;
}
