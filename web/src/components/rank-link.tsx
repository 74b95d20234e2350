// Opens the trace of a rank.

import { placeOf, showRank } from "../state/run";
import { TEMPLATES, TEXTS } from "../strings";

export function RankLink({ rank, trace }: { rank: number; trace: string | undefined }) {
  const text = TEMPLATES.rankNumber(rank);
  if (trace === undefined || placeOf(trace) === undefined) return <b>{text}</b>;
  return (
    <button type="button" class="link" data-hint={TEXTS.ranks.openHint} onClick={() => void showRank(trace)}>
      {text}
    </button>
  );
}
