// The state of a timeline: selection, search, critical path.

import { computed, effect, signal } from "@preact/signals";
import type { CountersRow, Related, RemoteTrace, Spans, StepsRow } from "kinetoscope/remote";
import { save } from "../../components/download";
import { baseName } from "../../components/save";
import type { Area } from "../../drawing/scene";
import { search } from "../../model/search";
import type { DrawnTrack } from "../../model/outline";
import { layout, LEVEL } from "../../model/timeline/layout";
import { criticalPathOf, type Path } from "../../model/timeline/path";
import { drawnSteps, type Step } from "../../model/timeline/steps";
import { around, centered, type Viewport } from "../../model/timeline/viewport";
import { isLive } from "../../state/live";
import type { OpenTrace } from "../../state/session";
import { numberParam, paramSignal, setParams } from "../../state/route";
import { Camera } from "./camera";
import { closedIn } from "./closed";
import type { Target } from "./input";
import { Matches } from "./matches";
import { Phases } from "./phases";
import { Surface, type Hovered, type Overlay } from "./surface";
import { WindowFollower } from "./window-follower";

/** A selected area: a time range on some tracks. */
export interface Selection {
  start: number;
  end: number;
  tracks: number[];
}

export class Timeline implements Target {
  readonly surface: Surface;
  readonly camera: Camera;
  readonly related = signal<Related | undefined>(undefined);
  /** The area that is being dragged. */
  readonly area = signal<Area | undefined>(undefined);
  readonly selection = signal<Selection | undefined>(undefined);
  /** The critical path, once it was loaded. */
  readonly path = signal<Path | undefined>(undefined);
  readonly showsPath = computed(() => paramSignal("path").value === "1");
  readonly matches: Matches;
  readonly phases: Phases;
  readonly layout = computed(() =>
    layout(this.tracks, this.counters, {
      closed: closedIn(paramSignal("closed").value),
      matches: this.trackFilter.value.matches,
      byName: isLive.value,
    }),
  );
  /** Of a trace that is larger than memory. */
  readonly windows: WindowFollower | undefined;
  readonly trace: RemoteTrace;
  private readonly trackFilter = computed(() => search(paramSignal("lanes").value));
  private readonly cleanups: (() => void)[] = [];
  private selectedEvent: number | undefined;

  constructor(
    open: OpenTrace,
    readonly tracks: readonly DrawnTrack[],
    readonly counters: readonly CountersRow[],
    steps: readonly StepsRow[],
    whole: Viewport,
  ) {
    const { trace, large } = open;
    this.trace = trace;
    this.matches = new Matches(trace);
    this.phases = new Phases(trace, tracks);
    this.camera = new Camera(signal(whole));
    const drawn = drawnSteps(steps);
    const scenery = { view: this.camera.view, layout: this.layout, hasSteps: steps.length > 0, large };
    this.windows = large && new WindowFollower(open, large, this.camera.view);
    this.surface = new Surface(trace, { ...scenery, overlay: () => this.overlay(drawn) });
    this.followAddress();
  }

  dispose(): void {
    this.camera.dispose();
    this.windows?.dispose();
    this.phases.dispose();
    for (const cleanUp of this.cleanups) cleanUp();
  }

  view(): Viewport {
    return this.camera.view.peek();
  }

  show(view: Viewport, how?: "animated"): void {
    this.camera.show(view, how);
  }

  onClick(box: Hovered | undefined): void {
    this.select(box?.event);
  }

  onDoubleClick(): void {
    this.fit();
  }

  private overlay(steps: readonly Step[]): Overlay {
    return {
      origin: 0,
      steps,
      selected: this.related.value,
      area: this.area.value ?? this.selectedArea(),
      path: this.showsPath.value ? this.path.value : undefined,
      found: this.matches.found.value,
      phases: this.phases.drawn.value,
      within: undefined,
      cursor: undefined,
    };
  }

  private followAddress(): void {
    const [wanted, area, selected] = [paramSignal("q"), paramSignal("area"), computed(() => numberParam("event"))];
    this.cleanups.push(
      effect(() => {
        const event = selected.value;
        if (event === undefined) {
          this.selectedEvent = undefined;
          this.related.value = undefined;
        } else if (event !== this.selectedEvent) void this.showEvent(event);
      }),
      effect(() => this.matches.search(wanted.value)),
      effect(() => {
        if (this.showsPath.value) void this.loadPath();
      }),
      effect(() => {
        // The details of the selected event reduce the height of the timeline.
        void this.surface.size.value;
        const related = this.related.value;
        if (related && related.length > 0) this.scrollToSpan(related, 0);
      }),
      effect(() => {
        const [start, end, ...tracks] = area.value.split(",").map(Number);
        this.selection.value =
          area.value && start !== undefined && end !== undefined ? { start, end, tracks } : undefined;
      }),
    );
  }

  private async loadPath(): Promise<void> {
    if (this.path.peek()) return;
    const periods = await this.trace.columns("critical-path", { periods: true }).catch(() => undefined);
    if (periods) this.path.value = criticalPathOf(periods);
  }

  /** Returns the selection as an area over its tracks. */
  private selectedArea(): Area | undefined {
    const selection = this.selection.value;
    if (!selection) return undefined;
    const rows = this.layout.value.rows.filter((row) => row.kind === "track" && selection.tracks.includes(row.track));
    if (rows.length === 0) return undefined;
    const top = Math.min(...rows.map((row) => row.y));
    const bottom = Math.max(...rows.map((row) => row.y + row.height));
    return { start: selection.start, end: selection.end, top, bottom };
  }

  /** Selects an event, or clears the selection. */
  select(event: number | undefined): void {
    setParams({ event, area: undefined }, "step");
  }

  /** Loads the related events of an event, and scrolls to the event if it is not visible. */
  private async showEvent(event: number): Promise<void> {
    this.selectedEvent = event;
    const related = await this.trace.related(event).catch(() => undefined);
    if (this.selectedEvent !== event) return;
    this.related.value = related;
    if (related && related.relation[0] === "self") this.reveal(related, 0);
  }

  private reveal(spans: Spans, at: number): void {
    const [start, end] = [spans.start_ns[at] as number, spans.end_ns[at] as number];
    const view = this.camera.view.peek();
    const inSight = end > view.start && start < view.end && end - start >= (view.end - view.start) / 1000;
    if (!inSight) this.camera.show(centered(view, start, end), "animated");
    this.scrollToSpan(spans, at);
  }

  private scrollToSpan(spans: Spans, at: number): void {
    const row = this.layout.peek().rows.find((one) => one.kind === "track" && one.track === spans.track[at]);
    if (!row) return;
    const y = row.y + Math.min(spans.depth[at] as number, Math.floor(row.height / LEVEL) - 1) * LEVEL;
    const room = this.surface.size.peek().height - this.surface.header;
    const top = this.surface.scroll.peek();
    if (room > 0 && (y < top || y + LEVEL > top + room)) this.surface.scrollTo(Math.max(0, y - room / 2));
  }

  /** Zooms to the selection. */
  fit(): void {
    const selection = this.selection.peek();
    const related = this.related.peek();
    if (selection) this.camera.show(around(selection.start, selection.end, 0.05), "animated");
    else if (related && related.length > 0)
      this.camera.show(around(related.start_ns[0] as number, related.end_ns[0] as number), "animated");
  }

  /** Selects the visible area. */
  selectVisible(): void {
    const { start, end } = this.camera.view.peek();
    const top = this.surface.scroll.peek();
    this.selectArea({ start, end, top, bottom: top + this.surface.size.peek().height - this.surface.header });
  }

  /** Selects the time range and the tracks of an area. */
  selectArea(area: Area): void {
    const inside = this.layout
      .peek()
      .rows.filter((row) => row.kind === "track" && row.y + row.height > area.top && row.y < area.bottom);
    const tracks = inside.flatMap((row) => (row.kind === "track" ? [row.track] : []));
    this.area.value = undefined;
    const start = Math.max(0, Math.round(area.start));
    const end = Math.round(area.end);
    if (tracks.length === 0 || end <= start) return;
    setParams({ area: [start, end, ...tracks].join(","), event: undefined }, "step");
  }

  clear(): void {
    setParams({ event: undefined, area: undefined, q: undefined });
  }

  /** Saves the visible time range as a trace. */
  async saveSlice(): Promise<void> {
    const { start, end } = this.camera.view.peek();
    const time = [Math.max(0, Math.floor(start)), Math.ceil(end)] as const;
    const text = await new Response(this.trace.export("slice", { time })).blob();
    save(`${baseName(this.trace.name)}.slice.json`, "application/json", text);
  }

  /** Selects the next or previous match of the search. */
  async goToMatch(by: 1 | -1): Promise<void> {
    const event = await this.matches.go(by, this.camera.view.peek().start);
    if (event !== undefined) this.select(event);
  }
}
