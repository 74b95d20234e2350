// The canvas of a timeline: loads the visible spans and counters of a trace, draws them, and finds the span at a position.

import { computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import type { Curve, RemoteTrace } from "kinetoscope/remote";
import { palette } from "../../drawing/palette";
import { CURVE_PIXELS, RULER, STEPS, visibleRows, type Scene } from "../../drawing/scene";
import { drawTimeline } from "../../drawing/timeline";
import { boxAt, boxesOf, type Boxes } from "../../model/timeline/boxes";
import { CHUNK_PIXELS, Chunks, levelOf, placesOf, type Place } from "../../model/timeline/chunks";
import { LEVEL, rowAt, type Layout, type TimelineRow } from "../../model/timeline/layout";
import type { Viewport } from "../../model/timeline/viewport";
import type { Large } from "../../state/large";
import { keepsShown } from "../../state/live";
import { theme } from "../../state/theme";

export interface Hovered {
  track: number;
  depth: number;
  start: number;
  end: number;
  name: string;
  event: number;
  count: number;
}

/** What is drawn in addition to the spans. */
export type Overlay = Pick<
  Scene,
  "origin" | "steps" | "selected" | "area" | "path" | "found" | "phases" | "within" | "cursor"
>;

export interface Scenery {
  view: ReadonlySignal<Viewport>;
  layout: ReadonlySignal<Layout>;
  /** Whether there is a strip with steps below the ruler. */
  hasSteps: boolean;
  /** Of a trace that is larger than memory. */
  large?: Large | undefined;
  /** Evaluated for each frame; a change of a signal that it reads requests a frame. */
  overlay: () => Overlay;
}

/** The name of the performance measure of a frame, and the number of measures that are kept. */
const MEASURE = "timeline frame";
const MEASURED = 5000;

export class Surface {
  readonly scroll = signal(0);
  readonly size = signal({ width: 0, height: 0 });
  readonly hovered = signal<Hovered | undefined>(undefined);
  /** The time under the pointer. */
  readonly pointed = signal<number | undefined>(undefined);
  readonly header: number;
  /** Read from the styles once for each theme. */
  private readonly palette = computed(() => (void theme.value, palette()));
  private readonly boxes: Chunks<Boxes>;
  private readonly curves: Chunks<Curve>;
  private readonly densities: Chunks<Float32Array>;
  private readonly arrived = signal(0);
  private element: HTMLElement | undefined;
  private hasDrawn = false;
  private frame = 0;
  private frames = 0;

  constructor(
    trace: RemoteTrace,
    private readonly scenery: Scenery,
  ) {
    this.header = RULER + (scenery.hasSteps ? STEPS : 0);
    const arrive = (): void => void (this.arrived.value += 1);
    this.boxes = new Chunks(async ({ of, level }, start, end) => {
      return boxesOf(await trace.tiles({ track: of, startNs: start, endNs: end, pixels: CHUNK_PIXELS }), 2 ** level);
    }, arrive);
    this.curves = new Chunks(
      ({ of }, start, end) => trace.curve({ counter: of, startNs: start, endNs: end, pixels: CURVE_PIXELS }),
      arrive,
    );
    const outline = scenery.large?.outline;
    this.densities = new Chunks(
      async ({ of }, startNs, endNs) =>
        (await outline?.density({ track: of, startNs, endNs, pixels: CHUNK_PIXELS })) ?? new Float32Array(),
      arrive,
    );
  }

  get hasSteps(): boolean {
    return this.scenery.hasSteps;
  }

  get view(): ReadonlySignal<Viewport> {
    return this.scenery.view;
  }

  get layout(): ReadonlySignal<Layout> {
    return this.scenery.layout;
  }

  /** Draws on a canvas in a scrolled element. Returns a function that ends it. */
  attach(element: HTMLElement, canvas: HTMLCanvasElement): () => void {
    this.element = element;
    const measure = (): void => {
      canvas.style.height = `${element.clientHeight}px`;
      this.size.value = { width: canvas.clientWidth, height: element.clientHeight };
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    const scrolled = (): void => void (this.scroll.value = element.scrollTop);
    element.addEventListener("scroll", scrolled, { passive: true });
    const endDrawing = effect(() => {
      // Reads everything that a frame shows, so that each change requests a frame.
      void [this.view.value, this.scroll.value, this.size.value, this.hovered.value, this.layout.value];
      void [this.arrived.value, theme.value, this.scenery.overlay()];
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.draw(canvas));
    });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", scrolled);
      endDrawing();
      cancelAnimationFrame(this.frame);
    };
  }

  scrollTo(top: number): void {
    this.element?.scrollTo({ top });
  }

  /** Returns the visible rows. */
  rows(): TimelineRow[] {
    const [layout, scroll] = [this.layout.peek(), this.scroll.peek()];
    return visibleRows({ layout, scroll, height: this.size.peek().height, header: this.header });
  }

  private draw(canvas: HTMLCanvasElement): void {
    const { width, height } = this.size.peek();
    const context = canvas.getContext("2d", { alpha: false });
    if (!context || width === 0) return;
    const begun = performance.now();
    const ratio = Math.min(devicePixelRatio, 2);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const scene = this.scene(context, width, height);
    this.request(scene);
    // What is on the canvas of another version of the trace stays until all of the new data is there.
    this.hasDrawn ||= !keepsShown.peek() || [this.boxes, this.curves, this.densities].every((one) => one.isIdle);
    if (this.hasDrawn) drawTimeline(scene);
    // The benchmark of the browser tests reads the measures; old ones are dropped.
    if (++this.frames % MEASURED === 0) performance.clearMeasures(MEASURE);
    performance.measure(MEASURE, { start: begun, end: performance.now() });
  }

  private scene(context: CanvasRenderingContext2D, width: number, height: number): Scene {
    return {
      context,
      width,
      height,
      view: this.view.peek(),
      scroll: this.scroll.peek(),
      header: this.header,
      layout: this.layout.peek(),
      level: levelOf(this.nsPerPixel()),
      boxes: this.boxes,
      curves: this.curves,
      densities: this.densities,
      window: this.scenery.large?.window,
      palette: this.palette.peek(),
      hovered: this.hovered.peek(),
      ...this.scenery.overlay(),
    };
  }

  private request(scene: Scene): void {
    const { start, end } = scene.view;
    const boxes: Place[] = [];
    const curves: Place[] = [];
    const densities: Place[] = [];
    for (const row of this.rows()) {
      if (row.kind === "track" && row.track >= 0) boxes.push(...placesOf(row.track, scene.level, start, end));
      if (row.kind === "track" && row.outline !== undefined)
        densities.push(...placesOf(row.outline, scene.level, start, end));
      if (row.kind === "counter") curves.push(...placesOf(row.counter, scene.level, start, end));
    }
    this.boxes.want(boxes);
    this.curves.want(curves);
    this.densities.want(densities);
  }

  /** Returns the time at a position on the canvas. */
  timeAt(x: number): number {
    return this.view.peek().start + x * this.nsPerPixel();
  }

  /** Returns the middle of the visible part of the span under the pointer, or of the visible time. */
  middle(): number {
    const { start, end } = this.view.peek();
    const hovered = this.hovered.peek();
    return hovered ? (Math.max(hovered.start, start) + Math.min(hovered.end, end)) / 2 : (start + end) / 2;
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
    if (row?.kind !== "track" || row.track < 0) return undefined;
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
}
