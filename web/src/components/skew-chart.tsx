// When each rank arrived at the collectives of a group, before the last one. One rank is highlighted; of many ranks, only
// the median and the earliest are shown as well.

import { useMemo } from "preact/hooks";
import uPlot from "uplot";
import { time } from "../model/format";
import { band, type Skew } from "../model/run";
import { TEMPLATES } from "../strings";
import { axis, Chart } from "./chart";

/** The number of ranks up to which each is shown. */
const SINGLE = 16;

export function SkewChart({ skew, rank }: { skew: Skew; rank: number }) {
  const own = skew.ranks.indexOf(rank);
  const isMany = skew.ranks.length > SINGLE;
  const data = useMemo((): uPlot.AlignedData => {
    // Lower is earlier: the last rank is at 0.
    const curve = (values: Float64Array): (number | null)[] =>
      Array.from(values, (value) => (Number.isNaN(value) ? null : value === 0 ? 0 : -value));
    const others = isMany ? band(skew.beforeLast, skew.seconds.length) : skew.beforeLast.filter((_, at) => at !== own);
    const highlighted = skew.beforeLast[own] ?? new Float64Array(skew.seconds.length).fill(NaN);
    return [skew.seconds, ...[...others, highlighted].map(curve)] as unknown as uPlot.AlignedData;
  }, [skew, own, isMany]);
  const options = useMemo(
    () => (color: (name: string) => string) => {
      const others = data.length - 2;
      // Points without lines: neighbours may be collectives of different kinds.
      const dots = (size: number, name: string): uPlot.Series => ({
        stroke: color(name),
        points: { show: true, size, width: 0, fill: color(name), space: 0 },
        paths: () => null,
      });
      return {
        legend: { show: false },
        cursor: { points: { show: false }, drag: { x: true, y: false } },
        scales: { x: { time: false } },
        axes: [
          axis(color, { values: (_: uPlot, ticks: number[]) => ticks.map((at) => time(at * 1e9)) }),
          axis(color, { values: (_: uPlot, ticks: number[]) => ticks.map(time), size: 74 }),
        ],
        series: [
          {},
          ...Array.from({ length: others }, () => dots(5, "--strong-line")),
          { label: TEMPLATES.rankNumber(rank), ...dots(7, "--accent") },
        ],
      };
    },
    [data.length, rank],
  );
  return (
    <>
      <Chart label={TEMPLATES.skewChart(skew.ranks.length, rank)} options={options} data={data} height={230} />
      <ul class="legend">
        <li>
          <span class="swatch" style={{ background: "var(--accent)" }} /> {TEMPLATES.rankNumber(rank)}
        </li>
        <li>
          <span class="swatch" style={{ background: "var(--strong-line)" }} /> {TEMPLATES.otherRanks(isMany)}
        </li>
      </ul>
    </>
  );
}
