// A chart of bars and dots. A line describes the one under the pointer, and a click selects it.

import { useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { logarithmicTicks, nearest, type Box, type Mark, type Scale } from "../model/marks";
import { axis, Chart } from "./chart";

export interface MarkAxis extends Scale {
  /** Without a text, the axis has no title. */
  title: string;
  /** Formats the values at the ticks. */
  format: (ticks: readonly (number | null)[]) => string[];
  /** The names of lanes from the top; the value of a lane is its number from the bottom. */
  lanes?: readonly string[];
  /** Whether values are counts. */
  isCount?: boolean;
}

/** A vertical line with a text. */
export interface MarkLine {
  at: number;
  text: string;
}

export interface MarksChartProps {
  label: string;
  height: number;
  marks: readonly Mark[];
  lines?: readonly MarkLine[];
  x: MarkAxis;
  y: MarkAxis;
  /** Shown while no mark is under the pointer. */
  tip: string;
  /** Describes what a mark shows. */
  about: (at: number) => string;
  onPick?: (at: number) => void;
}

type Color = (name: string) => string;

/** The radius of a dot in pixels. */
const DOT = 4;

/** The distances in pixels up to which a bar or the centre of a dot is under the pointer: all of them, and vertical ones. */
const REACH = { bar: [3, 0], dot: [DOT + 4, DOT + 4] } as const;

/** The height of the text of a line. */
const LINE = 13;

const NO_LINES: readonly MarkLine[] = [];

/** Distances between the ticks of a count. */
const COUNTS = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

const isDotOf = (mark: Mark | undefined): boolean => mark?.left === mark?.right;

/** Returns the position of a mark, in pixels of the canvas or of the page. */
function boxOf(chart: uPlot, mark: Mark, ofCanvas: boolean): Box {
  const [x, y] = [(v: number) => chart.valToPos(v, "x", ofCanvas), (v: number) => chart.valToPos(v, "y", ofCanvas)];
  return { left: x(mark.left), right: x(mark.right), top: y(mark.high), bottom: y(mark.low) };
}

function drawMark(context: CanvasRenderingContext2D, { left, right, top, bottom }: Box, isDot: boolean): void {
  const size = uPlot.pxRatio;
  context.beginPath();
  if (isDot) context.arc(left, top, DOT * size, 0, 2 * Math.PI);
  else {
    // A pixel separates neighbours that are wide enough.
    const width = right - left;
    context.rect(left, top, Math.max(size, width - (width > 4 * size ? size : 0)), bottom - top);
  }
}

function drawMarks(chart: uPlot, marks: readonly Mark[], hovered: number | undefined, color: Color): void {
  const { ctx: context, bbox } = chart;
  context.save();
  context.beginPath();
  context.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  context.clip();
  // Reading a style costs more than drawing a mark.
  const fills = new Map([...new Set(marks.map((mark) => mark.color))].map((name) => [name, color(name)]));
  marks.forEach((mark, at) => {
    const isDot = isDotOf(mark);
    drawMark(context, boxOf(chart, mark, true), isDot);
    context.globalAlpha = isDot ? 0.75 : 1;
    context.fillStyle = fills.get(mark.color) ?? "";
    context.fill();
    context.globalAlpha = 1;
    if (at !== hovered) return;
    context.lineWidth = 2 * uPlot.pxRatio;
    context.strokeStyle = color("--text");
    context.stroke();
  });
  context.restore();
}

/** Draws the lines, each with its text in a row of its own above the chart, the last at the top. */
function drawLines(chart: uPlot, lines: readonly MarkLine[], color: Color): void {
  const { ctx: context, bbox } = chart;
  const size = uPlot.pxRatio;
  context.save();
  context.font = `${11 * size}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const placed = lines.map(({ at, text }, row) => {
    const [x, top] = [Math.round(chart.valToPos(at, "x", true)), bbox.top - (row + 1) * LINE * size];
    context.fillStyle = color("--text");
    context.fillRect(x - size / 2, top, size, bbox.top + bbox.height - top);
    return { x, y: top + (LINE / 2) * size, text, width: context.measureText(text).width };
  });
  for (const { x, y, text, width } of placed) {
    // To the left of its line, if there is room: the lines that are higher are further to the right.
    const left = x - width - 5 * size < 0 ? x + 5 * size : x - width - 5 * size;
    context.fillStyle = color("--background");
    context.fillRect(left - size, y - (LINE / 2) * size, width + 2 * size, LINE * size);
    context.fillStyle = color("--text");
    context.fillText(text, left, y);
  }
  context.restore();
}

const all = (_: uPlot, ticks: number[]): number[] => ticks;

function axisOf(color: Color, of: MarkAxis, isVertical: boolean): uPlot.Axis {
  const { title, format, lanes, isCount, isLogarithmic } = of;
  const letters = Math.max(...(lanes ?? []).map((name) => name.length), 0);
  const named = (_: uPlot, at: number[]): string[] => at.map((value) => lanes?.[lanes.length - 1 - value] ?? "");
  return axis(color, {
    values: lanes ? named : (_: uPlot, ticks: number[]) => format(ticks),
    ...(title ? { label: title, labelSize: 16, labelFont: "11px system-ui, sans-serif", labelGap: 2 } : {}),
    ...(isVertical ? { size: lanes ? Math.min(150, 20 + 7 * letters) : isCount ? 44 : 64 } : { space: 64 }),
    ...(lanes ? { splits: () => lanes.map((_, at) => at), grid: { show: false }, ticks: { show: false } } : {}),
    ...(isLogarithmic
      ? { splits: (_: uPlot, __: number, low: number, high: number) => logarithmicTicks(low, high), filter: all }
      : {}),
    ...(isCount && !isLogarithmic ? { incrs: COUNTS } : {}),
  });
}

const distribution = ({ isLogarithmic }: Scale): uPlot.Scale => (isLogarithmic ? { distr: 3 } : {});

/** The horizontal scale can be zoomed: its data are the ends of its range. */
const scalesOf = (x: Scale, y: Scale): uPlot.Scales => ({
  x: { time: false, range: (_, low, high) => [low ?? x.range[0], high ?? x.range[1]], ...distribution(x) },
  y: { range: () => y.range, ...distribution(y) },
});

export function MarksChart(props: MarksChartProps) {
  const { marks, lines = NO_LINES, x, y, about, onPick } = props;
  const [hovered, setHovered] = useState<number | undefined>();
  const drawn = useRef<number | undefined>(undefined);
  const data = useMemo((): uPlot.AlignedData => [[...x.range], [...y.range]], [x, y]);
  const options = useMemo(
    () =>
      (color: Color): Omit<uPlot.Options, "width" | "height"> => ({
        legend: { show: false },
        padding: [lines.length * LINE + 6, 14, 0, 0],
        cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: false } },
        scales: scalesOf(x, y),
        axes: [axisOf(color, x, false), axisOf(color, y, true)],
        series: [{}, { paths: () => null, points: { show: false } }],
        hooks: {
          draw: [
            (chart: uPlot) => {
              drawMarks(chart, marks, drawn.current, color);
              drawLines(chart, lines, color);
            },
          ],
          setCursor: [
            (chart: uPlot) => {
              const { left = -1, top = -1 } = chart.cursor;
              const boxes = left < 0 ? [] : marks.map((mark) => boxOf(chart, mark, false));
              const [reach, reachY] = REACH[isDotOf(marks[0]) ? "dot" : "bar"];
              const found = nearest(boxes, left, top, reach, reachY);
              if (found === drawn.current) return;
              drawn.current = found;
              setHovered(found);
              chart.over.style.cursor = found !== undefined && onPick ? "pointer" : "";
              chart.redraw(false);
            },
          ],
          ready: [
            (chart: uPlot) =>
              chart.over.addEventListener("click", () => {
                const mark = drawn.current === undefined ? undefined : marks[drawn.current];
                if (mark) onPick?.(mark.at);
              }),
          ],
        },
      }),
    [marks, lines, x, y, onPick],
  );
  const mark = hovered === undefined ? undefined : marks[hovered];
  return (
    <>
      <Chart label={props.label} options={options} data={data} height={props.height} />
      <p class="chart-tip" role="status">
        {mark ? about(mark.at) : <span class="quiet">{props.tip}</span>}
      </p>
    </>
  );
}
