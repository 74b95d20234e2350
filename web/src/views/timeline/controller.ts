// The state of a timeline: view, selection and search. Redraws when the state changes.

import { computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import type { CountersRow, Curve, Related, RemoteTrace, Spans, StepsRow, TracksRow } from "kinetoscope/remote";
import { save } from "../../components/download";
import { baseName } from "../../components/save";
import { palette } from "../../drawing/palette";
import { CURVE_PIXELS, drawTimeline, visibleRows, RULER, STEPS, type Area, type Scene } from "../../drawing/timeline";
import { search } from "../../model/search";
import { boxAt, boxesOf, type Boxes } from "../../model/timeline/boxes";
import { CHUNK_PIXELS, Chunks, levelOf, placesOf, type Place } from "../../model/timeline/chunks";
import { rowAt, layout, LEVEL } from "../../model/timeline/layout";
import { criticalPathOf, type Path } from "../../model/timeline/path";
import { around, centered, clamped, type Viewport } from "../../model/timeline/viewport";
import { isLive } from "../../state/live";
import { numberParam, param, setParams } from "../../state/route";
import { reducedMotion, theme } from "../../state/theme";
import { Matches } from "./matches";

export interface Hovered {
  track: number;
  depth: number;
  start: number;
  end: number;
  name: string;
  event: number;
  count: number;
}

/** A selected area: a time range on some tracks. */
export interface Selection {
  start: number;
  end: number;
  tracks: number[];
}

/** The duration of an animated movement in ms. */
const MOVEMENT = 140;

/** The name of the performance measure of a frame, and the number of measures that are kept. */
const MEASURE = "timeline frame";
const MEASURED = 5000;

const texts = new Map<string, ReadonlySignal<string>>();

/** Returns a signal of one parameter of the address, which does not change with the other parameters. */
function text(name: string): ReadonlySignal<string> {
  const known = texts.get(name) ?? computed(() => param(name) ?? "");
  texts.set(name, known);
  return known;
}

export class Timeline {
  readonly view = signal<Viewport>({ start: 0, end: 1 });
  readonly scroll = signal(0);
  readonly size = signal({ width: 0, height: 0 });
  readonly related = signal<Related | undefined>(undefined);
  readonly hovered = signal<Hovered | undefined>(undefined);
  /** The area that is being dragged. */
  readonly area = signal<Area | undefined>(undefined);
  readonly selection = signal<Selection | undefined>(undefined);
  /** The critical path, once it was loaded. */
  readonly path = signal<Path | undefined>(undefined);
  readonly showsPath = computed(() => text("path").value === "1");
  readonly matches: Matches;
  readonly layout = computed(() =>
    layout(this.tracks, this.counters, {
      closed: this.closed.value,
      matches: this.trackFilter.value.matches,
      byName: isLive.value,
    }),
  );
  readonly header: number;
  private readonly closed = computed(
    () =>
      new Set(
        text("closed")
          .value.split(",")
          .filter((id) => id !== ""),
      ),
  );
  private readonly trackFilter = computed(() => search(text("lanes").value));
  /** Read from the styles once for each theme. */
  private readonly palette = computed(() => (void theme.value, palette()));
  private readonly boxes: Chunks<Boxes>;
  private readonly curves: Chunks<Curve>;
  private readonly arrived = signal(0);
  private readonly steps;
  private readonly cleanups: (() => void)[] = [];
  private canvas: HTMLCanvasElement | undefined;
  private hasDrawn = false;
  private frame = 0;
  private frames = 0;
  private movement = 0;
  private saving = 0;
  private selectedEvent: number | undefined;

  constructor(
    readonly trace: RemoteTrace,
    readonly tracks: readonly TracksRow[],
    readonly counters: readonly CountersRow[],
    steps: readonly StepsRow[],
    readonly whole: Viewport,
    readonly scrollTo: (y: number) => void,
  ) {
    this.matches = new Matches(trace);
    const arrive = (): void => void (this.arrived.value += 1);
    this.boxes = new Chunks(async ({ of, level }, start, end) => {
      return boxesOf(await trace.tiles({ track: of, startNs: start, endNs: end, pixels: CHUNK_PIXELS }), 2 ** level);
    }, arrive);
    this.curves = new Chunks(
      ({ of }, start, end) => trace.curve({ counter: of, startNs: start, endNs: end, pixels: CURVE_PIXELS }),
      arrive,
    );
    this.steps = steps.map((step) => ({ name: step.name, start: step.start_ns, end: step.start_ns + step.wall_ns }));
    this.header = RULER + (steps.length > 0 ? STEPS : 0);
    const [start, end] = [numberParam("start"), numberParam("end")];
    this.view.value = clamped(start !== undefined && end !== undefined && end > start ? { start, end } : whole, whole);
    this.followAddress();
  }

  /** Starts to draw on a canvas. */
  attach(canvas: HTMLCanvasElement): void {
    this.canvas = canvas;
    this.cleanups.push(
      effect(() => {
        // Reads everything that a frame shows, so that each change requests a frame.
        void [
          this.view.value,
          this.scroll.value,
          this.size.value,
          this.related.value,
          this.hovered.value,
          this.area.value,
        ];
        void [this.showsPath.value, this.path.value];
        void [this.matches.found.value, this.layout.value, this.arrived.value, theme.value, this.selection.value];
        cancelAnimationFrame(this.frame);
        this.frame = requestAnimationFrame(() => this.draw());
      }),
    );
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.movement);
    clearTimeout(this.saving);
    for (const cleanUp of this.cleanups) cleanUp();
  }

  private followAddress(): void {
    const [wanted, area, selected] = [text("q"), text("area"), computed(() => numberParam("event"))];
    const shown = computed(() => `${numberParam("start") ?? ""} ${numberParam("end") ?? ""}`);
    this.cleanups.push(
      effect(() => {
        const event = selected.value;
        if (event === undefined) {
          this.selectedEvent = undefined;
          this.related.value = undefined;
        } else if (event !== this.selectedEvent) void this.show(event);
      }),
      effect(() => {
        const [start, end] = shown.value.split(" ").map(Number) as [number, number];
        if (end > start) this.follow({ start, end });
      }),
      effect(() => this.matches.search(wanted.value)),
      effect(() => {
        if (this.showsPath.value) void this.loadPath();
      }),
      effect(() => {
        // The details of the selected event reduce the height of the timeline.
        void this.size.value;
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

  /** Shows the time range of the address if it differs from the shown one. */
  private follow(wanted: Viewport): void {
    const { start, end } = this.view.peek();
    if (Math.round(start) !== wanted.start || Math.round(end) !== wanted.end)
      this.view.value = clamped(wanted, this.whole);
  }

  private async loadPath(): Promise<void> {
    if (this.path.peek()) return;
    const periods = await this.trace.columns("critical-path", { periods: true }).catch(() => undefined);
    if (periods) this.path.value = criticalPathOf(periods);
  }

  private draw(): void {
    const { canvas } = this;
    const { width, height } = this.size.peek();
    const context = canvas?.getContext("2d", { alpha: false });
    if (!canvas || !context || width === 0) return;
    const begun = performance.now();
    const ratio = Math.min(devicePixelRatio, 2);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const scene = this.scene(context, width, height);
    this.request(scene);
    // While a recording is followed, what is on the canvas stays until all of the new data is there.
    this.hasDrawn ||= !isLive.peek() || (this.boxes.isIdle && this.curves.isIdle);
    if (this.hasDrawn) drawTimeline(scene);
    // The benchmark of the browser tests reads the measures; old ones are dropped.
    if (++this.frames % MEASURED === 0) performance.clearMeasures(MEASURE);
    performance.measure(MEASURE, { start: begun, end: performance.now() });
  }

  private scene(context: CanvasRenderingContext2D, width: number, height: number): Scene {
    const view = this.view.peek();
    return {
      context,
      width,
      height,
      view,
      scroll: this.scroll.peek(),
      header: this.header,
      layout: this.layout.peek(),
      level: levelOf((view.end - view.start) / width),
      boxes: this.boxes,
      curves: this.curves,
      palette: this.palette.peek(),
      steps: this.steps,
      selected: this.related.peek(),
      hovered: this.hovered.peek(),
      area: this.area.peek() ?? this.selectedArea(),
      path: this.showsPath.peek() ? this.path.peek() : undefined,
      found: this.matches.found.peek(),
    };
  }

  /** Returns the selection as an area over its tracks. */
  private selectedArea(): Area | undefined {
    const selection = this.selection.peek();
    if (!selection) return undefined;
    const rows = this.layout.peek().rows.filter((row) => row.kind === "track" && selection.tracks.includes(row.track));
    if (rows.length === 0) return undefined;
    const top = Math.min(...rows.map((row) => row.y));
    const bottom = Math.max(...rows.map((row) => row.y + row.height));
    return { start: selection.start, end: selection.end, top, bottom };
  }

  private request(scene: Scene): void {
    const { start, end } = scene.view;
    const boxes: Place[] = [];
    const curves: Place[] = [];
    for (const row of visibleRows(scene)) {
      if (row.kind === "track") boxes.push(...placesOf(row.track, scene.level, start, end));
      else if (row.kind === "counter") curves.push(...placesOf(row.counter, scene.level, start, end));
    }
    this.boxes.want(boxes);
    this.curves.want(curves);
  }

  /** Shows another time range, at once or animated. */
  setView(view: Viewport, how: "at once" | "animated" = "at once"): void {
    cancelAnimationFrame(this.movement);
    const to = clamped(view, this.whole);
    if (how === "at once" || reducedMotion()) this.view.value = to;
    else this.move(this.view.peek(), to, performance.now());
    this.save(to);
  }

  private move(from: Viewport, to: Viewport, begun: number): void {
    const share = Math.min(1, (performance.now() - begun) / MOVEMENT);
    const eased = 1 - (1 - share) ** 3;
    this.view.value = {
      start: from.start + (to.start - from.start) * eased,
      end: from.end + (to.end - from.end) * eased,
    };
    if (share < 1) this.movement = requestAnimationFrame(() => this.move(from, to, begun));
  }

  /** Saves the view in the address after it has stopped to change. */
  private save(view: Viewport): void {
    clearTimeout(this.saving);
    const now = (): void => setParams({ start: Math.round(view.start), end: Math.round(view.end) });
    // A part of a recording that is followed is shown from now on, not the next version of the whole.
    if (isLive.peek()) now();
    else this.saving = window.setTimeout(now, 250);
  }

  /** Returns the time at a position on the canvas. */
  timeAt(x: number): number {
    const { start, end } = this.view.peek();
    return start + (x / Math.max(1, this.size.peek().width)) * (end - start);
  }

  private nsPerPixel(): number {
    const { start, end } = this.view.peek();
    return (end - start) / Math.max(1, this.size.peek().width);
  }

  /** Returns the drawn chunk of a track at a time. */
  boxesAt(track: number, time: number): Boxes | undefined {
    const [place] = placesOf(track, levelOf(this.nsPerPixel()), time, time);
    return place && this.boxes.get(place);
  }

  /** Returns the box at a position on the canvas. */
  boxUnder(x: number, y: number): Hovered | undefined {
    const inLayout = y - this.header + this.scroll.peek();
    const row = y < this.header ? undefined : rowAt(this.layout.peek(), inLayout);
    if (row?.kind !== "track") return undefined;
    const at = this.timeAt(x);
    const boxes = this.boxesAt(row.track, at);
    if (!boxes) return undefined;
    const depth = Math.floor((inLayout - row.y) / LEVEL);
    const box = boxAt(boxes, at, depth, this.nsPerPixel() * 1.5);
    if (box === undefined) return undefined;
    const { tiles } = boxes;
    return {
      track: row.track,
      depth,
      start: tiles.start_ns[box] as number,
      end: tiles.end_ns[box] as number,
      name: tiles.names[tiles.name[box] as number] as string,
      event: tiles.event[box] as number,
      count: tiles.count[box] as number,
    };
  }

  /** Selects an event, or clears the selection. */
  select(event: number | undefined): void {
    setParams({ event, area: undefined }, "step");
  }

  /** Loads the related events of an event, and scrolls to the event if it is not visible. */
  private async show(event: number): Promise<void> {
    this.selectedEvent = event;
    const related = await this.trace.related(event).catch(() => undefined);
    if (this.selectedEvent !== event) return;
    this.related.value = related;
    if (related && related.relation[0] === "self") this.reveal(related, 0);
  }

  private reveal(spans: Spans, at: number): void {
    const [start, end] = [spans.start_ns[at] as number, spans.end_ns[at] as number];
    const view = this.view.peek();
    const inSight = end > view.start && start < view.end && end - start >= (view.end - view.start) / 1000;
    if (!inSight) this.setView(centered(view, start, end), "animated");
    this.scrollToSpan(spans, at);
  }

  private scrollToSpan(spans: Spans, at: number): void {
    const row = this.layout.peek().rows.find((one) => one.kind === "track" && one.track === spans.track[at]);
    if (!row) return;
    const y = row.y + Math.min(spans.depth[at] as number, Math.floor(row.height / LEVEL) - 1) * LEVEL;
    const room = this.size.peek().height - this.header;
    const top = this.scroll.peek();
    if (room > 0 && (y < top || y + LEVEL > top + room)) this.scrollTo(Math.max(0, y - room / 2));
  }

  /** Zooms to the selection. */
  fit(): void {
    const selection = this.selection.peek();
    const related = this.related.peek();
    if (selection) this.setView(around(selection.start, selection.end, 0.05), "animated");
    else if (related && related.length > 0)
      this.setView(around(related.start_ns[0] as number, related.end_ns[0] as number), "animated");
  }

  /** Selects the visible area. */
  selectVisible(): void {
    const { start, end } = this.view.peek();
    const top = this.scroll.peek();
    this.selectArea({ start, end, top, bottom: top + this.size.peek().height - this.header });
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

  /** Expands or collapses a process or a track. */
  toggle(id: string): void {
    const closed = new Set(this.closed.peek());
    if (!closed.delete(id)) closed.add(id);
    setParams({ closed: [...closed].join(",") });
  }

  /** Saves the visible time range as a trace. */
  async saveSlice(): Promise<void> {
    const { start, end } = this.view.peek();
    const time = [Math.max(0, Math.floor(start)), Math.ceil(end)] as const;
    const text = await new Response(this.trace.export("slice", { time })).blob();
    save(`${baseName(this.trace.name)}.slice.json`, "application/json", text);
  }

  /** Selects the next or previous match of the search. */
  async goToMatch(by: 1 | -1): Promise<void> {
    const event = await this.matches.go(by, this.view.peek().start);
    if (event !== undefined) this.select(event);
  }
}
