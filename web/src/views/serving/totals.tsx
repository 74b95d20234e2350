// The totals of all iterations.

import { Card } from "../../components/parts";
import { amount, cell, count, exact, label, share } from "../../model/format";
import { steadyCount, type Serving } from "../../model/serving";
import { TEMPLATES, TEXTS } from "../../strings";
import { columnOf } from "./columns";

const LABELS = TEXTS.serving;

/** A note if the names of the iterations do not state what a card needs. */
const noteOf = (value: number | null): string | undefined => (value === null ? LABELS.notStated : undefined);

/** A card of a value of the totals that may be missing. */
function Value({
  id,
  of,
  value,
  note,
}: {
  id: string;
  of: string;
  value: number | string | null;
  note?: string | undefined;
}) {
  const { kind, title, about } = columnOf(of);
  const isNumber = typeof value === "number";
  return (
    <Card
      id={id}
      label={title}
      value={isNumber ? cell(kind, value) : label(value ?? "–")}
      {...(isNumber ? { exact: exact(kind, value) } : {})}
      about={about}
      note={note}
    />
  );
}

export function Cards({ serving: { total, phases } }: { serving: Serving }) {
  const left = total.count - steadyCount(total);
  const { tokens_per_second: rate, time_per_token_ns: perToken, generated_per_second: generated } = total;
  const ofGenerated = generated === null ? undefined : TEMPLATES.generatedPerSecond(amount(generated));
  const ofBound = total.bound_share === null ? undefined : TEMPLATES.shareOfWall(share(total.bound_share));
  const names = phases.map((row) => label(row.phase ?? "")).join(", ");
  return (
    <div class="cards">
      <Value id="iterations" of="count" value={total.count} note={left > 0 ? TEMPLATES.warmUp(left) : undefined} />
      <Card
        id="phases"
        label={LABELS.phases}
        value={count(phases.length)}
        about={columnOf("phase").about}
        note={names}
      />
      <Value id="tokens" of="tokens_per_second" value={rate} note={noteOf(rate) ?? ofGenerated} />
      <Value id="per-token" of="time_per_token_ns" value={perToken} note={noteOf(perToken)} />
      <Value id="bound" of="bound" value={total.bound} note={ofBound} />
    </div>
  );
}

/** Iterations that no range names are a guess. */
export function Inferred({ confidence }: { confidence: number | null }) {
  if (confidence === null) return null;
  return (
    <div class="banner warning" role="status" data-inferred={confidence}>
      {TEMPLATES.inferredIterations(share(confidence))}
    </div>
  );
}
