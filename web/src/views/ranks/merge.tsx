// Builds one trace of several ranks and opens it in the timeline.

import { useState } from "preact/hooks";
import type { RanksRow } from "kinetoscope/remote";
import { ofKind } from "../../model/kinds";
import { parseRanges, ranges } from "../../model/run";
import { placeOf, showMerged } from "../../state/run";
import { TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.ranks;

/** The number of ranks that are merged at once: the merged trace is opened as one. */
const MOST = 16;

/** The ranks that are proposed: all, or the late ones and the first ones. */
function proposed(ranks: readonly number[], late: readonly number[]): number[] {
  return ranks.length <= 4 ? [...ranks] : [...new Set([...late, ...ranks])].slice(0, 4);
}

export function Merge({ rows }: { rows: readonly RanksRow[] }) {
  const ranks = ofKind(rows, "rank").filter((row) => placeOf(row.trace) !== undefined);
  const late = ofKind(rows, "straggler").map((row) => row.rank);
  const known = ranks.map((row) => row.rank);
  const [text, setText] = useState<string | undefined>();
  const [failure, setFailure] = useState("");
  if (ranks.length < 2) return null;
  const shown =
    text ??
    ranges(
      proposed(
        known,
        late.filter((rank) => known.includes(rank)),
      ),
    );
  const merge = (): void => {
    const wanted = parseRanges(shown);
    const unknown = wanted?.find((rank) => !known.includes(rank));
    if (!wanted || wanted.length < 2) return setFailure(LABELS.chooseRanks);
    if (unknown !== undefined) return setFailure(TEMPLATES.unknownRank(unknown));
    if (wanted.length > MOST) return setFailure(TEMPLATES.tooManyRanks(MOST));
    setFailure("");
    const names = ranks.filter((row) => wanted.includes(row.rank)).map((row) => row.trace);
    void showMerged(names, ranges(wanted));
  };
  return (
    <form
      class="merge"
      onSubmit={(event) => {
        event.preventDefault();
        merge();
      }}
    >
      <label class="select">
        {LABELS.ranks}{" "}
        <input
          type="text"
          class={`filter lanes ${failure ? "invalid" : ""}`}
          value={shown}
          data-hint={LABELS.chooseRanks}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" data-merge data-hint={LABELS.mergeHint}>
        {LABELS.merge}
      </button>
      {failure ? (
        <span class="failure" role="alert">
          {failure}
        </span>
      ) : null}
    </form>
  );
}
