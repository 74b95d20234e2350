// Draws how many events of a track last at which times, where the events are not in memory.

import { CHUNK_PIXELS, chunkLength, placesOf } from "../model/timeline/chunks";
import { LEVEL, type TimelineRow } from "../model/timeline/layout";
import { xOf, yOf, type Scene } from "./scene";

type TrackRow = TimelineRow & { kind: "track" };

/** Draws the density of a track outside of the window: the mean number of levels, from the top as spans are. */
export function density(scene: Scene, row: TrackRow): void {
  const { context, palette, view, level, window } = scene;
  if (row.outline === undefined || !window) return;
  context.fillStyle = palette.curve;
  context.globalAlpha = 0.55;
  for (const place of placesOf(row.outline, level, view.start, view.end)) {
    const means = scene.densities.get(place);
    const length = chunkLength(level);
    if (means) chunk(scene, row, place.at * length, length / CHUNK_PIXELS, means);
  }
  context.globalAlpha = 1;
}

/** Draws a chunk from a time on. Integer pixels avoid visible seams. */
function chunk(scene: Scene, row: TrackRow, begin: number, pixel: number, means: Float32Array): void {
  const { context, width, window } = scene;
  const top = yOf(scene, row.y);
  const least = Math.min(row.height - 1, 2);
  for (let at = 0; at < means.length; at += 1) {
    const mean = means[at] as number;
    const start = begin + at * pixel;
    if (mean === 0 || (window && start >= window.start && start < window.end)) continue;
    const x = Math.floor(xOf(scene, start));
    if (x > width) break;
    const height = Math.max(least, Math.min(row.height - 1, mean * LEVEL));
    context.fillRect(x, top, Math.max(1, Math.floor(xOf(scene, start + pixel)) - x), height);
  }
}
