// The name of a phase in its colour, and links to iterations.

import type { ServingIterationRow } from "kinetoscope/remote";
import { label } from "../../model/format";
import { phaseStyle } from "../../model/phases";
import { around } from "../../model/timeline/viewport";

/** The colours of phases by name. */
export type Colors = ReadonlyMap<string, number>;

export const styleOf = (colors: Colors, phase: string | null): string => phaseStyle(colors.get(phase ?? "") ?? 0);

export function Phase({ colors, phase }: { colors: Colors; phase: string | null }) {
  return (
    <span class="phase" data-phase={phase}>
      <span class="swatch" style={{ background: `var(${styleOf(colors, phase)})` }} /> {label(phase ?? "")}
    </span>
  );
}

/** Returns the parameters of the timeline that show an iteration. */
export function placeOf(row: ServingIterationRow): { event: number; start: number; end: number; color: string } {
  const { start, end } = around(row.start_ns, row.start_ns + Math.max(row.range_ns, row.wall_ns), 0.2);
  return { event: row.event, start: Math.floor(start), end: Math.ceil(end), color: "phase" };
}
