// The tracks of a timeline: the scrolled canvas with the names of its rows, and a line about the span under the pointer.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { cell, count, time } from "../../model/format";
import type { TimelineRow } from "../../model/timeline/layout";
import { TEMPLATES, TEXTS } from "../../strings";
import { toggleIn } from "./closed";
import { listen, type Target } from "./input";
import type { Hovered } from "./surface";

const COUNTER_KINDS = { bytes: "bytes", count: "float", share: "share", bytes_per_second: "rate" } as const;

function Label({ row, header, closed }: { row: TimelineRow; header: number; closed: string }) {
  const style = { top: `${row.y + header}px`, height: `${row.height}px` };
  if (row.kind === "counter") {
    const most = cell(COUNTER_KINDS[row.unit], row.max);
    return (
      <div class="row-label counter-label" style={style} data-hint={TEMPLATES.counterScale(row.title, most)}>
        <span>{row.title}</span>
        <small>{most}</small>
      </div>
    );
  }
  const canClose = row.kind === "process" || row.depth > 1;
  return (
    <div class={`row-label ${row.kind}-label`} style={style}>
      {canClose ? (
        <button
          type="button"
          aria-expanded={!row.closed}
          data-row={row.id}
          data-hint={row.title}
          onClick={() => toggleIn(closed, row.id)}
        >
          <span class="twist" aria-hidden="true">
            {row.closed ? "▸" : "▾"}
          </span>
          {row.title}
        </button>
      ) : (
        <span data-hint={row.title}>{row.title}</span>
      )}
    </div>
  );
}

/** The line about a span; without one, `children`. */
export function Tip({ hovered, origin = 0, children }: TipProps) {
  return (
    <p class="tip" role="status">
      {hovered ? (
        <>
          <b>{hovered.name}</b>{" "}
          {hovered.count > 1
            ? TEMPLATES.moreInPixel(count(hovered.count - 1))
            : TEMPLATES.whatAt(time(hovered.end - hovered.start), time(hovered.start - origin))}
        </>
      ) : (
        <span class="quiet">{children}</span>
      )}
    </p>
  );
}

interface TipProps {
  hovered: Hovered | undefined;
  /** The time that is shown as 0. */
  origin?: number;
  children: ComponentChildren;
}

export interface TracksProps {
  target: Target;
  label: string;
  /** The parameter of the address with the collapsed rows. */
  closed: string;
  /** Whether the tracks get the focus when they are shown. */
  takesFocus?: boolean;
}

export function Tracks({ target, label, closed, takesFocus = false }: TracksProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { surface } = target;
  useLayoutEffect(() => {
    const [element, drawn] = [scroller.current as HTMLDivElement, canvas.current as HTMLCanvasElement];
    const endDrawing = surface.attach(element, drawn);
    const endInput = listen(element, drawn, target);
    if (takesFocus) element.focus({ preventScroll: true });
    return () => {
      endInput();
      endDrawing();
    };
  }, [target]);
  const { rows, height } = surface.layout.value;
  const { header } = surface;
  return (
    <div class="timeline-scroll" ref={scroller} tabIndex={0} role="application" aria-label={label}>
      <div class="timeline-content" style={{ height: `${height + header}px` }}>
        <div class="timeline-corner" style={{ height: `${header}px`, marginBottom: `-${header}px` }}>
          {surface.hasSteps ? TEXTS.shared.steps : ""}
        </div>
        <canvas ref={canvas} class="timeline-canvas" aria-hidden="true" />
        <div class="timeline-gutter">
          {rows.map((row) => (
            <Label key={row.id} row={row} header={header} closed={closed} />
          ))}
        </div>
      </div>
    </div>
  );
}
