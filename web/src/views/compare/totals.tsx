// The totals of a comparison, and the phases of the wall time.

import type { DiffRow } from "kinetoscope/remote";
import { Card } from "../../components/parts";
import { certainty, phasesOf, totalsOf, type Phase, type Total } from "../../model/compare";
import { exact, label, time } from "../../model/format";
import { TEMPLATES, TEXTS } from "../../strings";
import { signedTime } from "./change";

const LABELS = TEXTS.compare;

/** Two values, with their unit once if it is the same. */
function fromTo(a: string, b: string): string {
  const [number, unit] = a.split(" ");
  return unit !== undefined && b.endsWith(` ${unit}`) ? `${number} → ${b}` : `${a} → ${b}`;
}

function One({ row, label }: { row: Total | Phase; label: string }) {
  const { a_ns, b_ns, contribution_ns, significant } = row;
  const relative =
    a_ns > 0 ? ` (${contribution_ns > 0 ? "+" : ""}${((100 * contribution_ns) / a_ns).toFixed(1)}%)` : "";
  const word = certainty(significant);
  return (
    <Card
      id={`${row.kind} ${row.name}`}
      label={label}
      value={fromTo(time(a_ns), time(b_ns))}
      exact={TEMPLATES.valuesOfBoth(exact("ns", a_ns), exact("ns", b_ns))}
      about={row.message ? `${TEMPLATES.phase(row.message)}. ${LABELS.perStepHint}` : LABELS.perStepHint}
      note={
        <span class={word === "change" ? (contribution_ns > 0 ? "worse" : "better") : ""}>
          {signedTime(contribution_ns)}
          {relative} · {LABELS.certainty[word]}
        </span>
      }
    />
  );
}

export function Totals({ rows }: { rows: readonly DiffRow[] }) {
  return (
    <div class="cards cards-wide">
      {totalsOf(rows).map((row) => (
        <One key={row.name} row={row} label={LABELS.totals[row.name as keyof typeof LABELS.totals]} />
      ))}
      {phasesOf(rows).map((row) => (
        <One key={row.name} row={row} label={TEMPLATES.phase(label(row.name))} />
      ))}
    </div>
  );
}
