// Two timelines that show the same time after the start of a step, at the same scale.

import { computed, type ReadonlySignal } from "@preact/signals";
import type { CountersRow } from "kinetoscope/remote";
import { search } from "../../model/search";
import { layout } from "../../model/timeline/layout";
import { drawnSteps, pairsOf, rangeOfPair, type Paired, type Step } from "../../model/timeline/steps";
import type { Viewport } from "../../model/timeline/viewport";
import { go, paramSignal, setParams } from "../../state/route";
import { traces, type OpenTrace } from "../../state/session";
import { Camera } from "../timeline/camera";
import { closedIn } from "../timeline/closed";
import type { Target } from "../timeline/input";
import { Matches, namedOnly, type Found } from "../timeline/matches";
import { Surface, type Hovered } from "../timeline/surface";

/** What is drawn of one trace. */
export interface Drawn extends Paired {
  open: OpenTrace;
  counters: readonly CountersRow[];
}

const later = (time: number | undefined, by: number): number | undefined =>
  time === undefined ? undefined : time + by;

const shifted = ({ start, end }: Viewport, by: number): Viewport => ({ start: start + by, end: end + by });

/** What a side shows because of the other one. */
interface Shared {
  /** The name of the span under the pointer on the other side. */
  highlighted: () => string | undefined;
  /** The time under the pointer on either side, after the start of the step. */
  cursor: () => number | undefined;
}

/** One of the two timelines. The times of its trace are those of the pair plus the start of its step. */
export class Side implements Target {
  readonly surface: Surface;
  readonly closed: string;
  readonly matches: Matches;

  constructor(
    readonly drawn: Drawn,
    readonly name: "a" | "b",
    readonly step: ReadonlySignal<Step>,
    private readonly camera: Camera,
    shared: Shared,
  ) {
    this.closed = `closed-${name}`;
    this.matches = new Matches(drawn.open.trace);
    const steps = drawnSteps(drawn.steps);
    this.surface = new Surface(drawn.open.trace, {
      view: computed(() => shifted(camera.view.value, step.value.start)),
      layout: computed(() =>
        layout(drawn.tracks, drawn.counters, {
          closed: closedIn(paramSignal(this.closed).value),
          matches: search(paramSignal("lanes").value).matches,
        }),
      ),
      hasSteps: steps.length > 0,
      overlay: () => ({
        origin: step.value.start,
        steps,
        selected: undefined,
        area: undefined,
        path: undefined,
        found: this.found(shared.highlighted()),
        phases: undefined,
        within: step.value,
        cursor: later(shared.cursor(), step.value.start),
      }),
    });
  }

  private found(name: string | undefined): Found | undefined {
    return name === undefined ? this.matches.found.value : namedOnly(name);
  }

  /** Returns the time under the pointer, after the start of the step. */
  pointed(): number | undefined {
    return later(this.surface.pointed.value, -this.step.value.start);
  }

  view(): Viewport {
    return this.surface.view.peek();
  }

  show(view: Viewport, how?: "animated"): void {
    this.camera.show(shifted(view, -this.step.peek().start), how);
  }

  /** Opens a span in the Timeline view of its trace. */
  onClick(box: Hovered | undefined): void {
    if (!box) return;
    const at = traces.peek().indexOf(this.drawn.open);
    const { start, end } = this.view();
    const range = { start: Math.round(start), end: Math.round(end) };
    go("timeline", { trace: at === 0 ? undefined : at, event: box.event, ...range });
  }
}

export class PairedTimelines {
  readonly pairs;
  /** The position of the shown pair. */
  readonly at = computed(() => {
    const wanted = Number(paramSignal("step").value) || 1;
    return Math.min(Math.max(1, Math.round(wanted)), this.pairs.length) - 1;
  });
  readonly pair = computed(() => this.pairs[this.at.value] as (typeof this.pairs)[number]);
  readonly camera: Camera;
  readonly a: Side;
  readonly b: Side;

  constructor(a: Drawn, b: Drawn) {
    this.pairs = pairsOf(a, b);
    this.camera = new Camera(computed(() => rangeOfPair(this.pair.value)));
    const cursor = (): number | undefined => this.a.pointed() ?? this.b.pointed();
    const side = (drawn: Drawn, name: "a" | "b", other: () => Side): Side => {
      const highlighted = (): string | undefined => other().surface.hovered.value?.name;
      const step = computed(() => this.pair.value[name]);
      return new Side(drawn, name, step, this.camera, { highlighted, cursor });
    };
    this.a = side(a, "a", () => this.b);
    this.b = side(b, "b", () => this.a);
  }

  /** Searches in both traces. */
  search(text: string): void {
    this.a.matches.search(text);
    this.b.matches.search(text);
  }

  /** Shows another pair of steps. */
  choose(at: number): void {
    setParams({ step: at === 0 ? undefined : at + 1 });
  }

  /** Returns the time that keeps its position when keys zoom. */
  middle(): number {
    const side = this.b.surface.hovered.peek() ? this.b : this.a;
    return side.surface.middle() - side.step.peek().start;
  }

  dispose(): void {
    this.camera.dispose();
  }
}
