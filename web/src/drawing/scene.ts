// What a timeline shows: the input of its drawing.

import type { Curve, Related, Spans } from "kinetoscope/remote";
import type { Boxes } from "../model/timeline/boxes";
import { CHUNK_PIXELS, type Chunks } from "../model/timeline/chunks";
import type { Layout, TimelineRow } from "../model/timeline/layout";
import type { Path } from "../model/timeline/path";
import type { PhasesInTime } from "../model/timeline/phases";
import type { Step } from "../model/timeline/steps";
import type { Viewport } from "../model/timeline/viewport";
import type { Palette } from "./palette";

/** The heights of the ruler and of the strip with the steps below it, in pixels. */
export const RULER = 26;
export const STEPS = 18;

/** A selected area: a time range, and a vertical range of the layout. */
export interface Area {
  start: number;
  end: number;
  top: number;
  bottom: number;
}

export interface Scene {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  scroll: number;
  header: number;
  view: Viewport;
  layout: Layout;
  level: number;
  boxes: Chunks<Boxes>;
  curves: Chunks<Curve>;
  /** The mean numbers of events of a track of an outline that last in each pixel. */
  densities: Chunks<Float32Array>;
  /** Of a trace that is larger than memory: the time of the events that can be drawn. */
  window: Viewport | undefined;
  palette: Palette;
  /** The time that the ruler shows as 0. */
  origin: number;
  steps: readonly Step[];
  selected: Related | undefined;
  hovered: { track: number; depth: number; start: number; end: number } | undefined;
  area: Area | undefined;
  /** The critical path, if it is shown. */
  path: Path | undefined;
  /** The names that a search found; spans with other names are dimmed. */
  found: { names: ReadonlySet<string>; spans: Spans } | undefined;
  /** The phases that colours show; otherwise they show names. */
  phases: PhasesInTime | undefined;
  /** The time range outside of which everything is pale. */
  within: Viewport | undefined;
  /** The time at which a vertical line is drawn. */
  cursor: number | undefined;
}

/** Returns the visible rows of the layout. */
export function visibleRows({
  layout,
  scroll,
  height,
  header,
}: Pick<Scene, "layout" | "scroll" | "height" | "header">): TimelineRow[] {
  const bottom = scroll + height - header;
  return layout.rows.filter((row) => row.y + row.height > scroll && row.y < bottom);
}

/** Returns the horizontal position of a time. */
export const xOf = (scene: Scene, at: number): number =>
  ((at - scene.view.start) / (scene.view.end - scene.view.start)) * scene.width;

/** Returns the vertical position on the canvas of one in the layout. */
export const yOf = (scene: Scene, y: number): number => y - scene.scroll + scene.header;

/** The number of pixels that is requested for the curve of a chunk. */
export const CURVE_PIXELS = CHUNK_PIXELS / 2;
