// A virtualized table: only the visible rows are in the document. It can be sorted by its headers and navigated by
// keyboard, and a row can be opened to show details.

import {
  Virtualizer,
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
} from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { ColumnKind } from "kinetoscope/columns";
import { cell, exact, isNumeric } from "../model/format";
import { sorted } from "../model/sorting";
import { PAGE_TEXTS } from "../strings";

export interface TableColumn<Row> {
  key: string;
  title: string;
  kind: ColumnKind;
  about: string;
  /** A track size of a CSS grid. */
  width?: string;
  /** Returns the value if it is not a member of the row. */
  value?: (row: Row) => unknown;
  /** Renders the cell in place of the formatted value. */
  show?: (row: Row) => ComponentChildren;
  /** Breaks texts into lines in place of cutting them off. */
  wrap?: boolean;
  /** Draws a bar behind the number, relative to the largest value of the column. */
  bar?: boolean;
}

export interface Sort {
  key: string;
  descending: boolean;
}

export interface TableProps<Row> {
  /** The name of the table for assistive technology. */
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  sort?: Sort | undefined;
  onSort?: (sort: Sort) => void;
  /** Renders the details of an open row. */
  detail?: (row: Row) => ComponentChildren;
  /** The key of the open row. */
  open?: string | undefined;
  onOpen?: (key: string | undefined) => void;
  /** Makes the table as high as its rows, up to this number of rows. */
  fit?: number;
}

const ROW = 30;

/** Texts with more characters than this may be truncated. */
const LONG = 24;

export function valueIn<Row>(column: TableColumn<Row>, row: Row): unknown {
  return column.value ? column.value(row) : (row as Record<string, unknown>)[column.key];
}

function useVirtual(
  count: number,
  keys: (at: number) => string,
): [Virtualizer<HTMLDivElement, HTMLDivElement>, (element: HTMLDivElement | null) => void] {
  const scroller = useRef<HTMLDivElement | null>(null);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const options = {
    count,
    getItemKey: keys,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    measureElement,
    onChange: () => redraw(0),
  };
  const [virtual] = useState(() => new Virtualizer<HTMLDivElement, HTMLDivElement>(options));
  virtual.setOptions({ ...virtual.options, ...options });
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  return [virtual, (element) => (scroller.current = element)];
}

function HeadCell<Row>(props: {
  column: TableColumn<Row>;
  sort: Sort | undefined;
  onSort: ((sort: Sort) => void) | undefined;
}) {
  const { column, sort, onSort } = props;
  const isSorted = sort?.key === column.key;
  const descending = isSorted ? !sort.descending : isNumeric(column.kind);
  const order = isSorted ? (sort.descending ? "descending" : "ascending") : "none";
  return (
    <div role="columnheader" aria-sort={order} class={`th ${isNumeric(column.kind) ? "number" : ""}`}>
      <button
        type="button"
        data-hint={column.about}
        data-sort={column.key}
        onClick={() => onSort?.({ key: column.key, descending })}
      >
        {column.title}
        <span class="arrow" aria-hidden="true">
          {isSorted ? (sort.descending ? "↓" : "↑") : ""}
        </span>
      </button>
    </div>
  );
}

/** Returns the tooltip of a cell: the exact number and its description, or a text that may not fit. */
function hintOf<Row>(column: TableColumn<Row>, value: unknown): string | undefined {
  if (isNumeric(column.kind)) return `${exact(column.kind, value)}. ${column.about}`;
  return typeof value === "string" && value.length > LONG && !column.wrap ? value : undefined;
}

function Cell<Row>({
  column,
  row,
  greatest,
  role,
}: {
  column: TableColumn<Row>;
  row: Row;
  greatest: number | undefined;
  role: "cell" | "gridcell";
}) {
  const value = valueIn(column, row);
  const number = isNumeric(column.kind);
  const share = greatest && typeof value === "number" && value > 0 ? value / greatest : 0;
  return (
    <div
      role={role}
      class={`td ${number ? "number" : ""} ${value === 0 ? "zero" : ""} ${column.wrap ? "wrap" : ""}`}
      data-key={column.key}
      data-value={number ? String(value) : undefined}
      data-hint={hintOf(column, value)}
    >
      {share > 0 ? <span class="td-bar" style={{ width: `${share * 100}%` }} /> : null}
      <span class="td-text">{column.show ? column.show(row) : cell(column.kind, value)}</span>
    </div>
  );
}

export function Table<Row>(props: TableProps<Row>) {
  const { columns, keyOf, detail, open, onOpen } = props;
  const [own, setOwn] = useState<Sort | undefined>(props.sort);
  const sort = props.onSort ? props.sort : own;
  const rows = useMemo(() => {
    const by = columns.find((column) => column.key === sort?.key);
    return by && sort ? sorted(props.rows, (row) => valueIn(by, row), sort.descending) : props.rows;
  }, [props.rows, columns, sort?.key, sort?.descending]);
  const greatest = useMemo(() => {
    const most = (column: TableColumn<Row>): number =>
      rows.reduce((max, row) => Math.max(max, Number(valueIn(column, row)) || 0), 0);
    return new Map(columns.filter((column) => column.bar).map((column) => [column.key, most(column)]));
  }, [rows, columns]);
  const [virtual, scroller] = useVirtual(rows.length, (at) => keyOf(rows[at] as Row));
  const [active, setActive] = useState(-1);
  const template = columns
    .map((column) => column.width ?? (isNumeric(column.kind) ? "minmax(74px, 108px)" : "minmax(120px, 1fr)"))
    .join(" ");
  const style = { gridTemplateColumns: template };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const page = 12;
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = Math.min(rows.length - 1, Math.max(0, active + step));
      setActive(next);
      virtual.scrollToIndex(next);
    } else if ((event.key === "Enter" || event.key === " ") && active >= 0 && onOpen) {
      event.preventDefault();
      const key = keyOf(rows[active] as Row);
      onOpen(open === key ? undefined : key);
    }
  };

  const id = props.label.replaceAll(/\W+/g, "-");
  const fit = props.fit ?? 0;
  const shown = columns.some((column) => column.wrap)
    ? Math.min(fit * ROW, Math.max(ROW, virtual.getTotalSize()))
    : Math.min(fit, Math.max(1, rows.length)) * ROW;
  const height = props.fit === undefined ? undefined : { height: `${shown + 40 + (open ? 320 : 0)}px` };
  return (
    <div class={`table ${props.fit === undefined ? "table-fill" : ""}`} style={height}>
      <div
        class="table-scroll"
        ref={scroller}
        // Only rows of a grid may have `aria-expanded`.
        role={detail ? "treegrid" : "table"}
        aria-label={props.label}
        aria-rowcount={rows.length + 1}
        tabIndex={0}
        aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
        onKeyDown={onKeyDown}
      >
        <div class="tr thead" role="row" style={style}>
          {columns.map((column) => (
            <HeadCell key={column.key} column={column} sort={sort} onSort={props.onSort ?? setOwn} />
          ))}
        </div>
        {rows.length === 0 ? <p class="empty">{PAGE_TEXTS.noMatchingRow}</p> : null}
        <div class="tbody" role="rowgroup" style={{ height: `${virtual.getTotalSize()}px` }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index] as Row;
            const key = keyOf(row);
            const isOpen = detail !== undefined && open === key;
            const place = { transform: `translateY(${item.start}px)` };
            return (
              <div
                key={item.key}
                data-index={item.index}
                ref={(element) => virtual.measureElement(element)}
                class="row"
                style={place}
              >
                <div
                  id={`${id}-${item.index}`}
                  role="row"
                  aria-rowindex={item.index + 2}
                  aria-expanded={detail ? isOpen : undefined}
                  class={`tr ${item.index === active ? "active" : ""} ${detail ? "opens" : ""} ${isOpen ? "open" : ""}`}
                  style={style}
                  onClick={() => {
                    setActive(item.index);
                    if (onOpen && getSelection()?.isCollapsed !== false) onOpen(isOpen ? undefined : key);
                  }}
                >
                  {columns.map((column) => (
                    <Cell
                      key={column.key}
                      column={column}
                      row={row}
                      greatest={greatest.get(column.key)}
                      role={detail ? "gridcell" : "cell"}
                    />
                  ))}
                </div>
                {isOpen ? (
                  <div class="detail" role="row">
                    <div role="gridcell">{detail(row)}</div>
                  </div>
                ) : null}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
