// The answer of a query as a table.

import { useMemo } from "preact/hooks";
import { CopyButton } from "../../components/copy-button";
import { save } from "../../components/download";
import { To } from "../../components/parts";
import { Table, type TableColumn } from "../../components/table";
import { count } from "../../model/format";
import { asCsv, kindOf } from "../../model/sql";
import type { Rows } from "../../engine/database";
import type { Answered } from "../../state/database";
import { traces } from "../../state/session";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.sql;

/** How many rows the table shows. A file has all. */
const MOST = 100_000;

/** The columns of an answer; a row is its number. */
function tableColumns({ columns, valueAt }: Rows): TableColumn<number>[] {
  const isOneTrace = traces.value.length === 1;
  return columns.map(({ name, type }, at) => {
    const value = (row: number): unknown => valueAt(at, row);
    const column = { key: `${at} ${name}`, title: name, kind: kindOf(name, type), about: name, value };
    if (name !== "event" || !isOneTrace) return column;
    return { ...column, show: (row: number) => <ToEvent event={valueAt(at, row)} /> };
  });
}

function ToEvent({ event }: { event: unknown }) {
  if (typeof event !== "number") return <>–</>;
  return (
    <To view="timeline" with={{ event }}>
      {count(event)}
    </To>
  );
}

export function AnswerRows({ answered: { rows, ms } }: { answered: Answered }) {
  const shown = useMemo(() => Array.from({ length: Math.min(rows.length, MOST) }, (_, at) => at), [rows]);
  const columns = useMemo(() => tableColumns(rows), [rows]);
  const csv = (): string =>
    asCsv(
      rows.columns.map(({ name }) => name),
      rows.length,
      rows.valueAt,
    );
  return (
    <>
      <div class="toolbar">
        <span class="row-count" role="status" data-rows={rows.length}>
          {TEMPLATES.rowsIn(rows.length, ms)}
          {rows.length > MOST ? ` ${TEMPLATES.firstRows(MOST)}` : ""}
        </span>
        <span class="spring" />
        <CopyButton hint={LABELS.copyHint} text={csv} />
        <button type="button" data-hint={LABELS.csvHint} onClick={() => save("answer.csv", "text/csv", csv())}>
          {PAGE_TEXTS.csv}
        </button>
      </div>
      <Table label={LABELS.answer} columns={columns} rows={shown} keyOf={String} fit={25} />
    </>
  );
}
