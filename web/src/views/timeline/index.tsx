// The timeline: all tracks and counters, from the complete trace down to one event.

import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { SearchBox } from "../../components/search-box";
import type { CountersRow, StepsRow, TracksRow } from "kinetoscope/remote";
import { Await, Head, Missing } from "../../components/parts";
import { cell, count, time } from "../../model/format";
import type { TimelineRow } from "../../model/timeline/layout";
import { rowsOf } from "../../state/ask";
import { setParams } from "../../state/route";
import type { OpenTrace } from "../../state/session";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../../strings";
import { Timeline } from "./controller";
import { Details } from "./details";
import { listen } from "./input";
import { SelectionPanel } from "./selection";

const LABELS = TEXTS.timeline;
const COUNTER_KINDS = { bytes: "bytes", count: "float", share: "share", bytes_per_second: "rate" } as const;
const SHARED = TEXTS.shared;

function Toolbar({ timeline }: { timeline: Timeline }) {
  const found = timeline.matches.found.value;
  const at = timeline.matches.at.value;
  const many = found?.spans.length ?? 0;
  return (
    <div class="toolbar">
      <SearchBox
        name="q"
        label={SHARED.search}
        hint={TEMPLATES.searchHint(PAGE_TEXTS.filterHint)}
        onEnter={(shift) => void timeline.goToMatch(shift ? -1 : 1)}
      />
      <span class="row-count" role="status" data-matches={found ? many : undefined}>
        {timeline.matches.searching.value
          ? PAGE_TEXTS.computing
          : found
            ? TEMPLATES.matchCount(at >= 0 ? count(at + 1) : undefined, count(many), many === 1)
            : ""}
      </span>
      <button
        type="button"
        aria-label={LABELS.previousMatch}
        data-hint={LABELS.previousMatchHint}
        disabled={many === 0}
        onClick={() => void timeline.goToMatch(-1)}
      >
        ‹
      </button>
      <button
        type="button"
        aria-label={LABELS.nextMatch}
        data-hint={LABELS.nextMatchHint}
        disabled={many === 0}
        onClick={() => void timeline.goToMatch(1)}
      >
        ›
      </button>
      <SearchBox name="lanes" class="lanes" label={LABELS.tracks} hint={TEMPLATES.tracksHint(PAGE_TEXTS.filterHint)} />
      <button
        type="button"
        aria-pressed={timeline.showsPath.value}
        data-hint={LABELS.criticalPathHint}
        data-path={timeline.path.value?.start.length}
        onClick={() => setParams({ path: timeline.showsPath.value ? undefined : "1" })}
      >
        {LABELS.criticalPath}
      </button>
      <span class="spring" />
      <span
        class="quiet in-sight"
        data-view-start={Math.round(timeline.view.value.start)}
        data-view-end={Math.round(timeline.view.value.end)}
      >
        {TEMPLATES.visibleTime(time(timeline.view.value.end - timeline.view.value.start))}
      </span>
      <button type="button" data-hint={PAGE_TEXTS.saveSliceHint} onClick={() => void timeline.saveSlice()}>
        {PAGE_TEXTS.saveSlice}
      </button>
      <button
        type="button"
        data-hint={LABELS.wholeTraceHint}
        onClick={() => timeline.setView(timeline.whole, "animated")}
      >
        {PAGE_TEXTS.showAll}
      </button>
    </div>
  );
}

function GutterEntry({ row, timeline }: { row: TimelineRow; timeline: Timeline }) {
  const style = { top: `${row.y + timeline.header}px`, height: `${row.height}px` };
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
          onClick={() => timeline.toggle(row.id)}
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

function Tip({ timeline }: { timeline: Timeline }) {
  const hovered = timeline.hovered.value;
  return (
    <p class="tip" role="status">
      {hovered ? (
        <>
          <b>{hovered.name}</b>{" "}
          {hovered.count > 1
            ? TEMPLATES.moreInPixel(count(hovered.count - 1))
            : TEMPLATES.whatAt(time(hovered.end - hovered.start), time(hovered.start))}
        </>
      ) : (
        <span class="quiet">{PAGE_TEXTS.timelineTip}</span>
      )}
    </p>
  );
}

interface Loaded {
  open: OpenTrace;
  tracks: readonly TracksRow[];
  counters: readonly CountersRow[];
  steps: readonly StepsRow[];
}

function Drawn({ open, tracks, counters, steps }: Loaded) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const timeline = useMemo(() => {
    const start = Math.min(0, ...tracks.flatMap((track) => track.start_ns ?? []));
    const end = Math.max(start + 1, ...tracks.flatMap((track) => track.end_ns ?? []));
    const scrollTo = (y: number): void => scroller.current?.scrollTo({ top: y });
    return new Timeline(open.trace, tracks, counters, steps, { start, end }, scrollTo);
  }, [open, tracks, counters, steps]);
  useLayoutEffect(() => {
    const [element, drawn] = [scroller.current as HTMLDivElement, canvas.current as HTMLCanvasElement];
    const measure = (): void => {
      drawn.style.height = `${element.clientHeight}px`;
      timeline.size.value = { width: drawn.clientWidth, height: element.clientHeight };
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    timeline.attach(drawn);
    const scrolled = (): void => void (timeline.scroll.value = element.scrollTop);
    element.addEventListener("scroll", scrolled, { passive: true });
    const end = listen(element, drawn, timeline);
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", scrolled);
      end();
    };
  }, [timeline]);
  useEffect(() => () => timeline.dispose(), [timeline]);
  useLayoutEffect(() => scroller.current?.focus({ preventScroll: true }), [timeline]);
  const { rows, height } = timeline.layout.value;
  return (
    <>
      <Toolbar timeline={timeline} />
      <div class="timeline">
        <div
          class="timeline-scroll"
          ref={scroller}
          tabIndex={0}
          role="application"
          aria-label={TEMPLATES.timelineLabel(tracks.length)}
        >
          <div class="timeline-content" style={{ height: `${height + timeline.header}px` }}>
            <canvas ref={canvas} class="timeline-canvas" aria-hidden="true" />
            <div class="timeline-gutter">
              {rows.map((row) => (
                <GutterEntry key={row.id} row={row} timeline={timeline} />
              ))}
            </div>
            <div class="timeline-corner" style={{ height: `${timeline.header}px` }}>
              {timeline.header > 30 ? SHARED.steps : ""}
            </div>
          </div>
        </div>
        <Tip timeline={timeline} />
      </div>
      {timeline.selection.value ? <SelectionPanel timeline={timeline} /> : <Details timeline={timeline} />}
    </>
  );
}

export function TimelineView({ open }: { open: OpenTrace }) {
  return (
    <div class="timeline-view">
      <Head view="timeline" />
      <Await answer={rowsOf(open.trace, "tracks")}>
        {(tracks) => (
          <Await answer={rowsOf(open.trace, "counters")}>
            {(counters) => (
              <Await answer={rowsOf(open.trace, "steps")}>
                {(steps) =>
                  tracks.every((track) => track.spans === 0) ? (
                    <Missing of="flame" />
                  ) : (
                    <Drawn open={open} tracks={tracks} counters={counters} steps={steps} />
                  )
                }
              </Await>
            )}
          </Await>
        )}
      </Await>
    </div>
  );
}
