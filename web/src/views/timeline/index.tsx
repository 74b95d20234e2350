// The timeline: all tracks and counters, from the complete trace down to one event.

import { useEffect, useMemo } from "preact/hooks";
import { SearchBox } from "../../components/search-box";
import type { CountersRow, StepsRow, TracksRow } from "kinetoscope/remote";
import { Await, Head, Missing } from "../../components/parts";
import { count, time } from "../../model/format";
import { drawnTracks } from "../../model/outline";
import { wholeOf } from "../../model/timeline/steps";
import { rowsOf } from "../../state/ask";
import { readingWindow } from "../../state/large";
import { setParams } from "../../state/route";
import type { OpenTrace } from "../../state/session";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../../strings";
import { Timeline } from "./controller";
import { Details } from "./details";
import { PhaseLegend } from "./phase-legend";
import { listenToKeys, timelineKeys } from "./keys";
import { SelectionPanel } from "./selection";
import { Tip, Tracks } from "./tracks";
import type { WindowFollower } from "./window-follower";

const LABELS = TEXTS.timeline;
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
      <button
        type="button"
        aria-pressed={timeline.phases.isShown.value}
        data-hint={LABELS.phasesHint}
        onClick={() => setParams({ color: timeline.phases.isShown.value ? undefined : "phase" })}
      >
        {LABELS.phases}
      </button>
      <span class="spring" />
      {timeline.windows ? <WindowState windows={timeline.windows} /> : null}
      <span
        class="quiet in-sight"
        data-view-start={Math.round(timeline.camera.view.value.start)}
        data-view-end={Math.round(timeline.camera.view.value.end)}
      >
        {TEMPLATES.visibleTime(time(timeline.camera.view.value.end - timeline.camera.view.value.start))}
      </span>
      <button type="button" data-hint={PAGE_TEXTS.saveSliceHint} onClick={() => void timeline.saveSlice()}>
        {PAGE_TEXTS.saveSlice}
      </button>
      <button
        type="button"
        data-hint={LABELS.wholeTraceHint}
        onClick={() => timeline.camera.show(timeline.camera.whole, "animated")}
      >
        {PAGE_TEXTS.showAll}
      </button>
    </div>
  );
}

/** What is read of a trace that is larger than memory, or why nothing is. */
function WindowState({ windows }: { windows: WindowFollower }) {
  const progress = readingWindow.value;
  const many = windows.tooMany.value;
  if (windows.failure.value)
    return (
      <span class="failure" role="alert">
        {windows.failure.value}
      </span>
    );
  return (
    <span class="quiet window-state" role="status" data-window-state={progress ? "reading" : many ? "many" : "read"}>
      {progress ? TEMPLATES.readingWindow(count(progress.events)) : many ? TEMPLATES.zoomToRead(count(many)) : ""}
    </span>
  );
}

interface Loaded {
  open: OpenTrace;
  tracks: readonly TracksRow[];
  counters: readonly CountersRow[];
  steps: readonly StepsRow[];
}

function Drawn({ open, tracks: ofTrace, counters, steps }: Loaded) {
  const { large } = open;
  const tracks = useMemo(() => (large ? drawnTracks(ofTrace, large.tracks) : ofTrace), [ofTrace, large]);
  const timeline = useMemo(
    () => new Timeline(open, tracks, counters, steps, wholeOf(tracks)),
    [open, tracks, counters, steps],
  );
  useEffect(() => () => timeline.dispose(), [timeline]);
  useEffect(() => listenToKeys(timelineKeys(timeline)), [timeline]);
  return (
    <>
      <Toolbar timeline={timeline} />
      <PhaseLegend phases={timeline.phases} />
      <div class="timeline">
        <Tracks target={timeline} label={TEMPLATES.timelineLabel(tracks.length)} closed="closed" takesFocus />
        <Tip hovered={timeline.surface.hovered.value}>{PAGE_TEXTS.timelineTip}</Tip>
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
                  !open.large && tracks.every((track) => track.spans === 0) ? (
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
