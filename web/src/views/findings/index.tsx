// Findings, known anti-patterns, and calls during which the launch queue ran empty.

import type { EvaluationRow, PatternsRow } from "kinetoscope/remote";
import { columnsOf } from "../../components/answer-table";
import { FindingList } from "../../components/finding-list";
import { Await, Head, Panel, To } from "../../components/parts";
import { Save } from "../../components/save";
import { Table } from "../../components/table";
import { time } from "../../model/format";
import { rowsOf } from "../../state/ask";
import type { OpenTrace } from "../../state/session";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../../strings";
import { CriticalPath, IdleCauses } from "./causes";
import { WhatIf } from "./what-if";

const LABELS = TEXTS.findings;
const SHARED = TEXTS.shared;

/** Returns the parameters of a timeline around an event. */
const around = (start: number, duration: number): Record<string, number> => ({
  start: start - duration,
  end: start + 2 * duration,
});

function Patterns({ rows }: { rows: readonly PatternsRow[] }) {
  if (rows.length === 0)
    return (
      <p class="good">
        No known anti-patterns were found. Some can only be detected with record_shapes=True and with_stack=True.
      </p>
    );
  return (
    <ul class="patterns">
      {rows.map((row) => (
        <li key={row.pattern + row.place + row.start_ns} data-pattern={row.pattern}>
          <p class="finding-message">
            {row.pattern} <b>{row.count}×</b>{" "}
            {row.saving_ns === null ? "" : TEMPLATES.possibleSaving(time(row.saving_ns))}
          </p>
          <p class="advice">{row.description}</p>
          <p>
            {row.place ? <code>{row.place}</code> : null} {PAGE_TEXTS.first}{" "}
            <To
              view="timeline"
              with={{ ...around(row.start_ns, Math.max(row.cpu_time_ns / row.count, 1000)), q: row.event }}
            >
              {TEMPLATES.whatAt(row.event, time(row.start_ns))}
            </To>
            {row.url ? (
              <>
                {" "}
                <a href={row.url} rel="noreferrer" target="_blank">
                  {LABELS.learnMore}
                </a>
              </>
            ) : null}
          </p>
        </li>
      ))}
    </ul>
  );
}

function Evaluation({ rows }: { rows: readonly EvaluationRow[] }) {
  return (
    <Table
      label={LABELS.emptyQueueCallsLabel}
      fit={14}
      rows={rows}
      keyOf={(row) => `${row.name} ${row.start_ns}`}
      columns={columnsOf(
        "evaluation",
        ["name", "start_ns", "duration_ns", "idle_time_ns", "fraction_idle", "queue_depth", "place"],
        {
          name: { title: SHARED.call, width: "minmax(200px, 2fr)" },
          start_ns: {
            title: SHARED.at,
            show: (row) => (
              <To view="timeline" with={around(row.start_ns, row.duration_ns)}>
                {time(row.start_ns)}
              </To>
            ),
          },
          duration_ns: { title: LABELS.duration, bar: true },
          idle_time_ns: { title: LABELS.deviceIdle, bar: true },
          fraction_idle: { title: LABELS.idleShare },
          queue_depth: { title: LABELS.queue },
          place: { title: LABELS.calledFrom },
        },
      )}
    />
  );
}

export function Findings({ open }: { open: OpenTrace }) {
  return (
    <>
      <Head view="findings" />
      <Await answer={rowsOf(open.trace, "summary")}>
        {([summary]) => (
          <Panel title={SHARED.findings} id="all-findings">
            {summary && summary.findings.length > 0 ? (
              <FindingList findings={summary.findings} />
            ) : (
              <p class="good">{LABELS.noFindings}</p>
            )}
          </Panel>
        )}
      </Await>
      <Await answer={rowsOf(open.trace, "summary")}>
        {([summary]) => (summary ? <WhatIf open={open} summary={summary} /> : null)}
      </Await>
      <IdleCauses open={open} />
      <CriticalPath open={open} />
      <Panel
        title={LABELS.antiPatterns}
        actions={<Save trace={open.trace} query="patterns" />}
        about={LABELS.antiPatternsHint}
        id="patterns"
      >
        <Await answer={rowsOf(open.trace, "patterns")}>{(rows) => <Patterns rows={rows} />}</Await>
      </Panel>
      <Await answer={rowsOf(open.trace, "evaluation", { rowLimit: 200 })}>
        {(rows) =>
          rows.length === 0 ? null : (
            <Panel
              title={LABELS.emptyQueueCalls}
              about={LABELS.emptyQueueCallsHint}
              actions={<Save trace={open.trace} query="evaluation" />}
              id="evaluation"
            >
              <Evaluation rows={rows} />
            </Panel>
          )
        }
      </Await>
    </>
  );
}
