// A flame graph in a scrolled canvas, with hover and click.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { drawFlame, FLAME_LEVEL, flameBoxAt, type DrawnBox } from "../drawing/flame";
import { palette } from "../drawing/palette";
import { theme } from "../state/theme";

export interface FlameCanvasProps<Box extends DrawnBox> {
  label: string;
  boxes: readonly Box[];
  matches: ((name: string) => boolean) | undefined;
  onClick: (box: Box | undefined) => void;
  /** The description of the box under the pointer. */
  tip: (box: Box) => preact.ComponentChildren;
  idle: string;
}

export function FlameCanvas<Box extends DrawnBox>(props: FlameCanvasProps<Box>) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [scroll, setScroll] = useState(0);
  const [hovered, setHovered] = useState<Box | undefined>();
  const deepest = props.boxes.reduce((most, box) => Math.max(most, box.depth), 0);
  useLayoutEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const measure = (): void => setSize({ width: element.clientWidth, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const element = canvas.current;
      const context = element?.getContext("2d", { alpha: false });
      if (!element || !context || size.width === 0) return;
      const ratio = Math.min(devicePixelRatio, 2);
      element.width = Math.round(size.width * ratio);
      element.height = Math.round(size.height * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawFlame({ context, ...size, scroll, boxes: props.boxes, palette: palette(), matches: props.matches, hovered });
    });
    return () => cancelAnimationFrame(frame);
  }, [props.boxes, props.matches, size, scroll, hovered, theme.value]);
  const under = (event: MouseEvent): Box | undefined => {
    const box = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    return flameBoxAt(props.boxes, event.clientX - box.left, event.clientY - box.top + scroll, box.width);
  };
  return (
    <div class="flame">
      <div class="flame-scroll" ref={scroller} onScroll={(event) => setScroll(event.currentTarget.scrollTop)}>
        <div style={{ height: `${(deepest + 1) * FLAME_LEVEL + 8}px` }}>
          <canvas
            ref={canvas}
            role="img"
            aria-label={props.label}
            style={{ height: `${size.height}px` }}
            onPointerMove={(event) => setHovered(under(event))}
            onPointerLeave={() => setHovered(undefined)}
            onClick={(event) => props.onClick(under(event))}
          />
        </div>
      </div>
      <p class="tip" role="status">
        {hovered ? props.tip(hovered) : <span class="quiet">{props.idle}</span>}
      </p>
    </div>
  );
}
