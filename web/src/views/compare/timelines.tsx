// The timelines of two runs, one above the other, locked by step.

import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { NamesRow } from "kinetoscope/remote";
import { Await, Panel } from "../../components/parts";
import { SearchBox } from "../../components/search-box";
import { exact, share, time } from "../../model/format";
import type { Step } from "../../model/timeline/steps";
import { ask, rowsOf, valueOf, type Answer } from "../../state/ask";
import { param } from "../../state/route";
import type { OpenTrace } from "../../state/session";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../../strings";
import { listenToKeys, movements } from "../timeline/keys";
import { Tip, Tracks } from "../timeline/tracks";
import { signedTime } from "./change";
import { PairedTimelines, type Drawn, type Side } from "./paired";

const LABELS = TEXTS.compareTimelines;

/** The height of the line above a timeline, and the largest height of both, in pixels. */
const HEAD = 34;
const HIGHEST = 330;

const lengthOf = ({ start, end }: Step): number => end - start;

function StepChooser({ timelines }: { timelines: PairedTimelines }) {
  const { pairs } = timelines;
  const at = timelines.at.value;
  const button = (by: 1 | -1, label: string, text: string) => (
    <button
      type="button"
      aria-label={label}
      data-hint={label}
      disabled={pairs[at + by] === undefined}
      onClick={() => timelines.choose(at + by)}
    >
      {text}
    </button>
  );
  return (
    <>
      {button(-1, LABELS.previousStep, "‹")}
      <label class="select">
        <span class="visually-hidden">{LABELS.step}</span>
        <select value={at} onChange={(event) => timelines.choose(Number(event.currentTarget.value))}>
          {pairs.map(({ a, b }, position) => (
            <option key={position} value={position}>
              {TEMPLATES.pairOfSteps(position + 1, pairs.length, a.name, b.name)}
            </option>
          ))}
        </select>
      </label>
      {button(1, LABELS.nextStep, "›")}
    </>
  );
}

function Toolbar({ timelines }: { timelines: PairedTimelines }) {
  const { camera } = timelines;
  const { start, end } = camera.view.value;
  const many = (side: Side): number => side.matches.found.value?.spans.length ?? 0;
  return (
    <div class="toolbar">
      {timelines.a.surface.hasSteps && timelines.b.surface.hasSteps ? <StepChooser timelines={timelines} /> : null}
      <SearchBox name="find" label={LABELS.find} />
      <span class="row-count" role="status">
        {timelines.a.matches.found.value ? TEMPLATES.matchesOfBoth(many(timelines.a), many(timelines.b)) : ""}
      </span>
      <SearchBox
        name="lanes"
        class="lanes"
        label={TEXTS.timeline.tracks}
        hint={TEMPLATES.tracksHint(PAGE_TEXTS.filterHint)}
      />
      <span class="spring" />
      <span class="quiet in-sight" data-view-start={Math.round(start)} data-view-end={Math.round(end)}>
        {TEMPLATES.visibleTime(time(end - start))}
      </span>
      <button type="button" data-hint={LABELS.wholeHint} onClick={() => camera.show(camera.whole, "animated")}>
        {LABELS.whole}
      </button>
    </div>
  );
}

/** The change of the duration from one step to another. */
function Difference({ from, to }: { from: number; to: number }) {
  const change = to - from;
  const relative = from > 0 ? ` (${change > 0 ? "+" : ""}${share(change / from)})` : "";
  return (
    <span class={change > 0 ? "worse" : "better"} data-difference={change}>
      {signedTime(change)}
      {relative}
    </span>
  );
}

function SideHead({ side, other }: { side: Side; other: Side | undefined }) {
  const step = side.step.value;
  const duration = lengthOf(step);
  return (
    <p class="pair-head">
      <b class="pair-letter">{side.name.toUpperCase()}</b>
      <span class="pair-name">{side.drawn.name}</span>
      {side.drawn.name === step.name ? null : <span class="quiet">{step.name}</span>}
      <b data-duration={duration} data-hint={exact("ns", duration)}>
        {time(duration)}
      </b>
      {other ? <Difference from={lengthOf(other.step.value)} to={duration} /> : null}
    </p>
  );
}

const visible = (side: Side) => {
  const { start, end } = side.surface.view.value;
  return { "data-start": start, "data-end": end, "data-origin": side.step.value.start };
};

function OneSide({ side, other }: { side: Side; other: Side | undefined }) {
  const { layout, header } = side.surface;
  const height = Math.min(HIGHEST, HEAD + header + layout.value.height);
  return (
    <div class="timeline" data-paired={side.name} style={{ height: `${height}px` }} {...visible(side)}>
      <SideHead side={side} other={other} />
      <Tracks
        target={side}
        label={TEMPLATES.pairedTimeline(side.name.toUpperCase(), side.drawn.name)}
        closed={side.closed}
      />
    </div>
  );
}

/** The spans of a name within a step. */
function within(side: Side, name: string): string {
  const { start, end } = side.step.value;
  const options = { time: [Math.round(start), Math.round(end)] as const };
  const rows = valueOf(rowsOf(side.drawn.open.trace, "names", options).value) ?? [];
  const same = rows.filter((row) => row.name === name);
  const sum = (key: "count" | "total_ns"): number => same.reduce((all, row: NamesRow) => all + row[key], 0);
  return TEMPLATES.callsWithin(side.name.toUpperCase(), sum("count"), time(sum("total_ns")));
}

function PairTip({ timelines: { a, b } }: { timelines: PairedTimelines }) {
  const side = b.surface.hovered.value ? b : a;
  const hovered = side.surface.hovered.value;
  return (
    <div class="pair-tip">
      <Tip hovered={hovered} origin={side.step.value.start}>
        {LABELS.tip}
      </Tip>
      {hovered ? (
        <span class="quiet">{`${LABELS.inStep} ${within(a, hovered.name)} · ${within(b, hovered.name)}`}</span>
      ) : null}
    </div>
  );
}

function Locked({ a, b }: { a: Drawn; b: Drawn }) {
  const timelines = useMemo(() => new PairedTimelines(a, b), [a, b]);
  useEffect(() => () => timelines.dispose(), [timelines]);
  useEffect(() => listenToKeys(movements(timelines.camera, () => timelines.middle())), [timelines]);
  const wanted = param("find") ?? "";
  useEffect(() => timelines.search(wanted), [timelines, wanted]);
  return (
    <>
      <Toolbar timelines={timelines} />
      <div class="pair">
        <OneSide side={timelines.a} other={undefined} />
        <OneSide side={timelines.b} other={timelines.a} />
        <PairTip timelines={timelines} />
      </div>
    </>
  );
}

/** Returns what is drawn of a trace. */
const drawnOf = (open: OpenTrace): ReadonlySignal<Answer<Drawn>> =>
  ask(open.trace, "paired timelines", async (trace) => {
    const [tracks, counters, steps] = await Promise.all([trace.tracks(), trace.counters(), trace.steps()]);
    return { open, name: open.name, tracks, counters, steps };
  });

export function Timelines({ a, b }: { a: OpenTrace; b: OpenTrace }) {
  return (
    <Panel title={LABELS.title} about={LABELS.hint} id="timelines">
      <Await answer={drawnOf(a)}>
        {(ofA) => <Await answer={drawnOf(b)}>{(ofB) => <Locked a={ofA} b={ofB} />}</Await>}
      </Await>
    </Panel>
  );
}
