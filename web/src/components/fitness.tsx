// Which questions a trace can answer, and why not the others.

import { QUESTIONS } from "kinetoscope/columns";
import type { Fitness, FitnessVerdict } from "kinetoscope/remote";
import { TEXTS } from "../strings";

const LABELS = TEXTS.fitness;

const MARKS: Record<FitnessVerdict, { mark: string; label: string }> = {
  good: { mark: "✓", label: LABELS.good },
  limited: { mark: "~", label: LABELS.limited },
  unfit: { mark: "✗", label: LABELS.unfit },
};

export function FitnessLine({ fitness }: { fitness: readonly Fitness[] }) {
  const reserved = fitness.filter((one) => one.reasons.length > 0);
  return (
    <details class="fitness" data-fitness={fitness.map((one) => one.verdict).join(" ")}>
      <summary title={LABELS.hint}>
        {LABELS.title}
        {fitness.map((one) => (
          <span key={one.question} class={`verdict ${one.verdict}`} title={MARKS[one.verdict].label}>
            <span aria-label={MARKS[one.verdict].label}>{MARKS[one.verdict].mark}</span> {QUESTIONS[one.question].label}
          </span>
        ))}
      </summary>
      <dl>
        {reserved.map((one) => (
          <div key={one.question}>
            <dt class={`verdict ${one.verdict}`} title={QUESTIONS[one.question].about}>
              {QUESTIONS[one.question].label}
            </dt>
            {one.reasons.map((reason) => (
              <dd key={reason.code + reason.message}>{reason.message}</dd>
            ))}
          </div>
        ))}
      </dl>
    </details>
  );
}
