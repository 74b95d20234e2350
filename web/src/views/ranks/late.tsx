// Late ranks with their evidence, slow nodes and links, and notes about the traces.

import type { RanksRow } from "kinetoscope/remote";
import { RankLink } from "../../components/rank-link";
import { Panel } from "../../components/parts";
import { bytes, count, exact, label, time } from "../../model/format";
import { ofKind } from "../../model/kinds";
import { groupKey, shortRanges, type SlowLink, type SlowNode, type Straggler } from "../../model/run";
import { TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.ranks;

/** The number of late ranks, nodes and links that are listed. */
const MOST = 8;

function Cost({ ns }: { ns: number }) {
  return (
    <span class="cost" data-hint={`${exact("ns", ns)}. ${LABELS.costHint}`}>
      {time(ns)}
    </span>
  );
}

/** In which steps, how often, and on which machine. */
function when(row: Straggler | SlowNode, host: string): string {
  const steps = (row.steps ?? []) as number[];
  const inSteps = steps.length > 0 ? TEMPLATES.inSteps(shortRanges(steps), steps.length) : "";
  return [inSteps, row.persistent ? LABELS.persistent : "", host].filter(Boolean).join(" · ");
}

function LateRank({ row, trace }: { row: Straggler; trace: string | undefined }) {
  return (
    <li data-late={row.rank} data-phase={row.phase}>
      <Cost ns={row.cost_ns} />
      <div>
        <p class="finding-message">
          <RankLink rank={row.rank} trace={trace} /> <b class="phase">{label(row.phase)}</b>{" "}
          <span class="quiet">{when(row, row.host ?? "")}</span>
        </p>
        {row.message ? <p class="advice">{row.message}</p> : null}
      </div>
    </li>
  );
}

function Node({ row }: { row: SlowNode }) {
  return (
    <li data-slow-node={row.host} data-phase={row.phase}>
      <Cost ns={row.cost_ns} />
      <p class="finding-message">
        {TEMPLATES.slowNode(row.host, shortRanges((row.ranks ?? []) as number[]))}{" "}
        <b class="phase">{label(row.phase)}</b> <span class="quiet">{when(row, "")}</span>
      </p>
    </li>
  );
}

function Link({ row }: { row: SlowLink }) {
  return (
    <li data-slow-link={row.group}>
      <Cost ns={row.cost_ns} />
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

/** Without a late rank: which ranks arrive last, why that is not known, or that none is late. */
function NoneLate({ rows }: { rows: readonly RanksRow[] }) {
  const arrivals = ofKind(rows, "note").filter(({ code }) => code === "arrives_last" || code === "lateness_unknown");
  if (arrivals.length === 0) return <p class="quiet">{LABELS.noneLate}</p>;
  return (
    <ul class="findings" data-panel="arrivals">
      {arrivals.map(({ message }) => (
        <li key={message}>{TEMPLATES.phase(message)}.</li>
      ))}
    </ul>
  );
}

export function Late({ rows }: { rows: readonly RanksRow[] }) {
  const [late, nodes, links] = [ofKind(rows, "straggler"), ofKind(rows, "slow_node"), ofKind(rows, "slow_link")];
  const traces = new Map(ofKind(rows, "rank").map((row) => [row.rank, row.trace]));
  const hidden = [late, nodes, links].reduce((sum, { length }) => sum + Math.max(0, length - MOST), 0);
  return (
    <Panel title={LABELS.late} about={LABELS.lateHint} id="late">
      {late.length + nodes.length + links.length === 0 ? <NoneLate rows={rows} /> : null}
      <ul class="findings">
        {nodes.slice(0, MOST).map((row) => (
          <Node key={`${row.host} ${row.phase}`} row={row} />
        ))}
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
