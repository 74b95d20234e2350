// Late ranks with their evidence, slow links, and notes about the traces.

import type { RanksRow } from "kinetoscope/remote";
import { RankLink } from "../../components/rank-link";
import { Panel } from "../../components/parts";
import { bytes, count, exact, time } from "../../model/format";
import { groupKey, ofKind, shortRanges, type Straggler, type SlowLink } from "../../model/run";
import { TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.ranks;

/** The number of late ranks and links that are listed. */
const MOST = 8;

function LateRank({ row, trace }: { row: Straggler; trace: string | undefined }) {
  const steps = (row.steps ?? []) as number[];
  return (
    <li data-late={row.rank} data-phase={row.phase}>
      <span class="cost" data-hint={`${exact("ns", row.cost_ns)}. ${LABELS.costHint}`}>
        {time(row.cost_ns)}
      </span>
      <div>
        <p class="finding-message">
          <RankLink rank={row.rank} trace={trace} /> <b class="phase">{row.phase}</b>{" "}
          <span class="quiet">
            {[
              steps.length > 0 ? TEMPLATES.inSteps(shortRanges(steps), steps.length) : "",
              row.persistent ? LABELS.persistent : "",
              row.host ?? "",
            ]
              .filter(Boolean)
              .join(" · ")}
          </span>
        </p>
        {row.message ? <p class="advice">{row.message}</p> : null}
      </div>
    </li>
  );
}

function Link({ row }: { row: SlowLink }) {
  return (
    <li data-slow-link={row.group}>
      <span class="cost">{time(row.cost_ns)}</span>
      <div>
        <p class="finding-message">
          {TEMPLATES.slowLink(row.name, bytes(row.bytes), shortRanges((row.ranks ?? []) as number[]))}
        </p>
        <p class="advice">
          {TEMPLATES.slowLinkTimes(time(row.usual_transfer_ns), time(row.others_transfer_ns), count(row.count))}
        </p>
      </div>
    </li>
  );
}

export function Late({ rows }: { rows: readonly RanksRow[] }) {
  const [late, links] = [ofKind(rows, "straggler"), ofKind(rows, "slow_link")];
  const traces = new Map(ofKind(rows, "rank").map((row) => [row.rank, row.trace]));
  const hidden = Math.max(0, late.length - MOST) + Math.max(0, links.length - MOST);
  return (
    <Panel title={LABELS.late} about={LABELS.lateHint} id="late">
      {late.length + links.length === 0 ? <p class="quiet">{LABELS.noneLate}</p> : null}
      <ul class="findings">
        {late.slice(0, MOST).map((row) => (
          <LateRank key={`${row.rank} ${row.phase}`} row={row} trace={traces.get(row.rank)} />
        ))}
        {links.slice(0, MOST).map((row) => (
          <Link key={`${groupKey(row)} ${row.name} ${row.bytes}`} row={row} />
        ))}
      </ul>
      {hidden > 0 ? <p class="quiet">{TEMPLATES.moreLate(hidden)}</p> : null}
    </Panel>
  );
}

export function Notes({ notes }: { notes: readonly { code: string; message: string }[] }) {
  if (notes.length === 0) return null;
  return (
    <details class="left-out" data-panel="notes" open={notes.length <= 3}>
      <summary>{TEMPLATES.notes(notes.length)}</summary>
      <ul>
        {notes.map(({ code, message }) => (
          <li key={`${code} ${message}`} data-note={code}>
            {message}
          </li>
        ))}
      </ul>
    </details>
  );
}
