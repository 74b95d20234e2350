// The colours of phases on the timeline.

import { label } from "../../model/format";
import { PHASE_BOXES } from "../../model/phases";
import { PAGE_TEXTS, TEXTS } from "../../strings";
import type { Phases } from "./phases";

const LABELS = TEXTS.timeline;

const styleOf = (color: number): string => {
  const box = PHASE_BOXES[color];
  return box === undefined ? "var(--c-other)" : `var(--box-${box})`;
};

export function PhaseLegend({ phases }: { phases: Phases }) {
  if (!phases.isShown.value) return null;
  const loaded = phases.loaded.value;
  if (loaded === "none") return <p class="quiet phase-legend">{LABELS.noPhases}</p>;
  if (!loaded) return <p class="quiet phase-legend">{PAGE_TEXTS.computing}</p>;
  return (
    <ul class="legend phase-legend">
      {[...loaded.colors].map(([phase, color]) => (
        <li key={phase} data-legend={phase}>
          <span class="swatch" style={{ background: styleOf(color) }} /> {label(phase)}
        </li>
      ))}
      <li>
        <span class="swatch" style={{ background: "var(--dimmed)" }} /> {LABELS.outsidePhases}
      </li>
      {loaded.onDevice ? null : <li class="quiet">{LABELS.unknownDevicePhases}</li>}
    </ul>
  );
}
