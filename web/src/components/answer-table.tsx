// The result of a query as a table: columns with descriptions, a filter, exports, and rows that can be opened.

import type { ComponentChildren } from "preact";
import { SearchBox } from "./search-box";
import { useMemo } from "preact/hooks";
import { COLUMNS, type Column } from "kinetoscope/columns";
import type { KeyOf, RemoteTrace, Queries } from "kinetoscope/remote";
import { count } from "../model/format";
import { search } from "../model/search";
import { asTabs, sorted } from "../model/sorting";
import { param, setParams } from "../state/route";
import { PAGE_TEXTS } from "../strings";
import { CopyButton } from "./copy-button";
import { Save } from "./save";
import { Table, valueIn, type Sort, type TableColumn } from "./table";

/** Returns the columns of a query with these keys, in this order; `changes` overrides their properties. */
export function columnsOf<V extends keyof Queries>(
  query: V,
  keys: readonly KeyOf<Queries[V]["row"]>[],
  changes: Partial<Record<KeyOf<Queries[V]["row"]>, Partial<TableColumn<Queries[V]["row"]>>>> = {},
): TableColumn<Queries[V]["row"]>[] {
  return columnsOfKind<Queries[V]["row"]>(query, keys, changes);
}

/** The same of a query with several kinds of rows, for rows of one kind. */
export function columnsOfKind<Row>(
  query: keyof Queries,
  keys: readonly KeyOf<Row>[],
  changes: Partial<Record<KeyOf<Row>, Partial<TableColumn<Row>>>> = {},
): TableColumn<Row>[] {
  return keys.map((key) => {
    const columns: readonly Column[] = COLUMNS[query];
    const column = columns.find((one) => one.key === key);
    if (!column) throw new Error(`${query} has no column ${key}`);
    return { ...column, title: column.title || titleOf(key), ...changes[key] };
  });
}

/** Returns a title for a key: `Self CPU time total` for `self_cpu_time_total_ns`. */
function titleOf(key: string): string {
  const words = key
    .replace(/_(ns|bytes)$/, "")
    .replaceAll("_", " ")
    .replace(/\bcpu\b/, "CPU");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** `Row` is one kind of the rows, if the query has several. */
export interface AnswerTableProps<V extends keyof Queries, Row extends Queries[V]["row"] = Queries[V]["row"]> {
  trace: RemoteTrace;
  query: V;
  options?: Queries[V]["options"];
  rows: readonly Row[];
  columns: readonly TableColumn<Row>[];
  keyOf: (row: Row) => string;
  /** The text that the filter matches. */
  textOf: (row: Row) => string;
  sort?: Sort;
  detail?: (row: Row) => ComponentChildren;
  /** More controls next to the filter. */
  children?: ComponentChildren;
  label: string;
  fit?: number;
}

/** Keeps the filter, order and open row in the address. A view can therefore have only one such table. */
export function AnswerTable<V extends keyof Queries, Row extends Queries[V]["row"] = Queries[V]["row"]>(
  props: AnswerTableProps<V, Row>,
) {
  const { trace, query, options, rows, columns, textOf } = props;
  const wanted = search(param("q") ?? "");
  const shown = useMemo(() => rows.filter((row) => wanted.matches(textOf(row))), [rows, param("q")]);
  const key = param("sort") ?? props.sort?.key;
  const sort =
    key === undefined
      ? undefined
      : { key, descending: param("order") ? param("order") === "down" : (props.sort?.descending ?? true) };
  const shownText = (): string => {
    const by = columns.find((column) => column.key === sort?.key);
    const ordered = by && sort ? sorted(shown, (row) => valueIn(by, row), sort.descending) : shown;
    const valueOf = (of: string, row: Row): unknown => {
      const column = columns.find((one) => one.key === of);
      return column ? valueIn(column, row) : undefined;
    };
    return asTabs(columns, ordered, valueOf);
  };
  return (
    <>
      <div class="toolbar">
        <SearchBox name="q" label={PAGE_TEXTS.filter} />
        <span class="row-count" role="status">
          {shown.length === rows.length ? "" : `${count(shown.length)} ${PAGE_TEXTS.of} `}
          {count(rows.length)} {PAGE_TEXTS.rows}
        </span>
        {props.children}
        <span class="spring" />
        <CopyButton hint={PAGE_TEXTS.copyHint} text={shownText} />
        <Save trace={trace} query={query} options={options} />
      </div>
      <Table
        label={props.label}
        columns={columns}
        rows={shown}
        keyOf={props.keyOf}
        sort={sort}
        onSort={(next) => setParams({ sort: next.key, order: next.descending ? "down" : "up" })}
        {...(props.detail ? { detail: props.detail } : {})}
        open={param("open")}
        onOpen={(open) => setParams({ open })}
        {...(props.fit ? { fit: props.fit } : {})}
      />
    </>
  );
}
