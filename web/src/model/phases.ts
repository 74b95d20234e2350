// The colours of the phases of inference engines.

/** The number of colours of phases: `--phase-0` and so on in the styles. The one after the last is for all other phases. */
export const PHASE_COLORS = 8;

/** The colours `--box-…` of spans that have the hues of the phases. */
export const PHASE_BOXES = [6, 5, 10, 11, 9, 8, 12, 0] as const;

/** Phases that have the same colour in every trace. */
const FIXED: Readonly<Record<string, number>> = { decode: 0, prefill: 1, mixed: 2, verify: 3, draft: 4 };

/** Inferred iterations that do not repeat. */
const OTHER = "other";

/** Returns the colour of each phase. Those without a fixed colour get the free ones in their order. */
export function phaseColors(phases: readonly string[]): Map<string, number> {
  const free = new Set(Array.from({ length: PHASE_COLORS }, (_, at) => at));
  for (const phase of phases) free.delete(FIXED[phase] ?? -1);
  const next = free.values();
  return new Map(
    phases.map((phase) => {
      if (phase === OTHER) return [phase, PHASE_COLORS];
      return [phase, FIXED[phase] ?? next.next().value ?? PHASE_COLORS];
    }),
  );
}

/** Returns the name of a colour in the styles. */
export const phaseStyle = (color: number): string => `--phase-${color}`;
