// The waterfall of a total: how the contributions of its parts add up to its change.

import type { DiffRow } from "kinetoscope/remote";
import { rangeOf, waterfall, type Bar, type Total } from "../../model/compare";
import { label, time } from "../../model/format";
import { TEMPLATES } from "../../strings";
import { signedTime } from "./change";

/** The number of rows with a bar of their own. */
const MOST = 14;

function Line({ bar, range: [low, high] }: { bar: Bar; range: [number, number] }) {
  const place = (value: number): number => (100 * (Math.max(value, low) - low)) / Math.max(high - low, 1);
  const isEnd = bar.from === 0 && bar.row === undefined && (bar.name === "A" || bar.name === "B");
  const change = bar.to - bar.from;
  const [from, to] = [place(Math.min(bar.from, bar.to)), place(Math.max(bar.from, bar.to))];
  const kind = isEnd ? "end" : change > 0 ? "more" : "less";
  const isNoise = !isEnd && bar.row?.significant !== true;
  return (
    <div class={`fall-row ${isNoise ? "is-noise" : ""}`} role="listitem" data-bar={bar.name}>
      <span class="fall-name" title={bar.name}>
        {bar.name}
      </span>
      <span class="fall-track" aria-hidden="true">
        <span class={`fall-bar ${kind}`} style={{ left: `${from}%`, width: `${Math.max(to - from, 0.15)}%` }} />
      </span>
      <span class="fall-value">{isEnd ? time(bar.to) : signedTime(change)}</span>
    </div>
  );
}

export function Waterfall({ rows, total }: { rows: readonly DiffRow[]; total: Total }) {
  const bars = waterfall(rows, total, MOST, TEMPLATES.otherRows);
  const range = rangeOf(bars);
  return (
    <div class="fall" role="list" aria-label={TEMPLATES.waterfallOf(label(total.name))}>
      {bars.map((bar, at) => (
        <Line key={at} bar={bar} range={range} />
      ))}
      {range[0] > 0 ? <p class="note">{TEMPLATES.axisFrom(time(range[0]))}</p> : null}
    </div>
  );
}
