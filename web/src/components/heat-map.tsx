// A heat map of ranks and steps on a canvas: scrolled, with hover, keys and a legend.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { AXIS, cellAt, drawHeatMap, heatColors } from "../drawing/heat-map";
import type { Line } from "../model/heat-map";
import { theme } from "../state/theme";

export interface HeatMapProps {
  label: string;
  lines: readonly Line[];
  steps: readonly number[];
  scale: readonly [number, number];
  nameOf: (line: Line) => string;
  /** Describes a cell. */
  tip: (line: Line, step: number) => preact.ComponentChildren;
  idle: string;
  onOpen: (line: Line) => void;
}

/** The height of a line, depending on their number, in pixels. */
function lineHeightFor(lines: number): number {
  if (lines <= 16) return 22;
  return lines <= 128 ? 15 : 12;
}

/** The largest height of the map, in pixels. */
const TALLEST = 460;

export function HeatMap(props: HeatMapProps) {
  const { lines, steps, scale } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [scroll, setScroll] = useState(0);
  const [active, setActive] = useState<{ line: number; step: number } | undefined>();
  const lineHeight = lineHeightFor(lines.length);
  const height = Math.min(TALLEST, AXIS + lines.length * lineHeight);
  const hasClasses = lines.some((line) => line.ranks.length > 1);
  const names = hasClasses ? Math.min(160, Math.max(90, width * 0.16)) : 68;
  const shown = active && active.line < lines.length && active.step < steps.length ? active : undefined;
  useLayoutEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const measure = (): void => setWidth(element.clientWidth);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  const scene = { width, height, scroll, lineHeight, names, lines, steps, scale };
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const element = canvas.current;
      const context = element?.getContext("2d", { alpha: false });
      if (!element || !context || width === 0) return;
      const ratio = Math.min(devicePixelRatio, 2);
      element.width = Math.round(width * ratio);
      element.height = Math.round(height * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawHeatMap({ context, ...scene, nameOf: props.nameOf, active: shown, colors: heatColors() });
    });
    return () => cancelAnimationFrame(frame);
  }, [lines, steps, scale, width, height, scroll, shown?.line, shown?.step, theme.value]);
  const under = (event: MouseEvent): { line: number; step: number } | undefined => {
    const box = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    return cellAt(scene, event.clientX - box.left, event.clientY - box.top);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Record<string, [number, number]> = {
      ArrowDown: [1, 0],
      ArrowUp: [-1, 0],
      ArrowRight: [0, 1],
      ArrowLeft: [0, -1],
      PageDown: [16, 0],
      PageUp: [-16, 0],
      Home: [-Infinity, 0],
      End: [Infinity, 0],
    };
    const move = moves[event.key];
    if (event.key === "Enter" && shown) props.onOpen(lines[shown.line] as Line);
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    const clamp = (value: number, most: number): number => Math.min(most, Math.max(0, value));
    const line = shown ? clamp(shown.line + move[0], lines.length - 1) : 0;
    const step = shown ? clamp(shown.step + move[1], steps.length - 1) : 0;
    setActive({ line, step });
    const element = scroller.current as HTMLDivElement;
    const [top, bottom] = [line * lineHeight, (line + 1) * lineHeight - (height - AXIS)];
    element.scrollTop = Math.min(top, Math.max(bottom, element.scrollTop));
  };
  return (
    <div class="heat">
      <div
        class="heat-scroll"
        ref={scroller}
        role="group"
        tabIndex={0}
        aria-label={props.label}
        style={{ height: `${height}px` }}
        onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
      >
        <div style={{ height: `${AXIS + lines.length * lineHeight}px` }}>
          <canvas
            ref={canvas}
            role="img"
            aria-label={props.label}
            style={{ height: `${height}px` }}
            onPointerMove={(event) => setActive(under(event))}
            onPointerLeave={() => setActive(undefined)}
            onClick={(event) => {
              const cell = under(event);
              if (cell) props.onOpen(lines[cell.line] as Line);
            }}
          />
        </div>
      </div>
      <p class="tip" role="status">
        {shown ? props.tip(lines[shown.line] as Line, shown.step) : <span class="quiet">{props.idle}</span>}
      </p>
    </div>
  );
}

/** The colour scale of a heat map with the values of its ends. */
export function HeatLegend({ low, high, label }: { low: string; high: string; label: string }) {
  return (
    <div class="heat-legend" role="img" aria-label={`${label}: ${low} – ${high}`}>
      <span>{low}</span>
      <span class="heat-ramp" />
      <span>{high}</span>
    </div>
  );
}
