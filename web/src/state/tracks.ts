// The names of tracks.

import type { RemoteTrace } from "kinetoscope/remote";
import { rowsOf, valueOf } from "./ask";

/** Returns a function that names tracks by their number; until the names are loaded, it returns the number. */
export function trackNames(trace: RemoteTrace): (track: number) => string {
  const tracks = valueOf(rowsOf(trace, "tracks").value) ?? [];
  const names = new Map(tracks.map((row) => [row.track, `${row.process} · ${row.thread}`]));
  return (track) => names.get(track) ?? `track ${track}`;
}
