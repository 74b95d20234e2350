// What the lanes of a trace are called.

import type { RemoteTrace } from "kinetoscope/remote";
import { rowsOf, valueOf } from "./ask";

/** The name of a lane by its number; its number while the names are not there. */
export function laneNames(trace: RemoteTrace): (track: number) => string {
  const tracks = valueOf(rowsOf(trace, "tracks").value) ?? [];
  const names = new Map(tracks.map((row) => [row.track, `${row.process} · ${row.thread}`]));
  return (track) => names.get(track) ?? `lane ${track}`;
}
