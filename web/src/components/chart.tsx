// A uPlot chart that is updated when its data, its width or the theme changes.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { theme } from "../state/theme";

export interface ChartProps {
  label: string;
  /** The options without the size; evaluated again when the theme changes. */
  options: (color: (name: string) => string) => Omit<uPlot.Options, "width" | "height">;
  data: uPlot.AlignedData;
  height: number;
}

/** Returns the value of a colour of the current theme. */
export function themeColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  useEffect(() => {
    const element = place.current as HTMLDivElement;
    const size = () => ({ width: Math.max(200, element.clientWidth), height: props.height });
    const made = new uPlot({ ...props.options(themeColor), ...size() }, props.data, element);
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize(size()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [theme.value, props.options, props.height]);
  useEffect(() => chart.current?.setData(props.data), [props.data]);
  return <div class="chart" ref={place} role="img" aria-label={props.label} />;
}

/** Returns an axis in the colours of the theme. */
export function axis(color: (name: string) => string, more: uPlot.Axis): uPlot.Axis {
  const grid = { stroke: color("--line"), width: 1 };
  return { stroke: color("--quiet"), grid, ticks: grid, font: "11px system-ui, sans-serif", size: 30, ...more };
}
