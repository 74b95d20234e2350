// The rows of a comparison, the most important first.

import { useMemo } from "preact/hooks";
import { DIFF_COLUMNS } from "kinetoscope/columns";
import { copy, save } from "../../components/download";
import { SearchBox } from "../../components/search-box";
import { Table, type TableColumn } from "../../components/table";
import { certainty, isTimed, nameOf, type Changed } from "../../model/compare";
import { bytes, label, time } from "../../model/format";
import { search } from "../../model/search";
import { asTabs } from "../../model/sorting";
import { param, setParams } from "../../state/route";
import { PAGE_TEXTS, TEXTS } from "../../strings";
import { Change, changeOf, signedTime } from "./change";

const LABELS = TEXTS.compare;

const aboutOf = (key: string): string => DIFF_COLUMNS.find((column) => column.key === key)?.about ?? "";

/** Returns the column with the values of a side. */
function side(name: "a" | "b"): TableColumn<Changed> {
  return {
    key: name,
    title: name.toUpperCase(),
    kind: "ns",
    about: aboutOf(`${name}_ns`),
    width: "84px",
    value: (row) => (row.kind === "memory" ? row[`${name}_bytes`] : row[`${name}_ns`]),
    show: (row) => (row.kind === "memory" ? bytes(row[`${name}_bytes`]) : time(row[`${name}_ns`])),
  };
}

/** A name, which is highlighted on the timelines by a click if they have its spans. */
function Name({ row }: { row: Changed }) {
  const { kind, name } = row;
  if (kind === "idle" || kind === "memory") return <>{nameOf(row)}</>;
  return (
    <button type="button" class="link" data-hint={LABELS.findHint} onClick={() => find(name)}>
      {name}
    </button>
  );
}

function find(name: string): void {
  setParams({ find: name });
  document.querySelector("[data-panel=timelines]")?.scrollIntoView({ block: "nearest" });
}

const COLUMNS: TableColumn<Changed>[] = [
  { key: "kind", title: LABELS.kind, kind: "text", about: aboutOf("kind"), width: "86px" },
  {
    key: "name",
    title: TEXTS.shared.name,
    kind: "text",
    about: aboutOf("name"),
    width: "minmax(200px, 2fr)",
    show: (row) => <Name row={row} />,
  },
  {
    key: "change",
    title: LABELS.change,
    kind: "text",
    about: aboutOf("change"),
    width: "92px",
    show: (row) => <span class={`change ${row.change}`}>{label(row.change)}</span>,
  },
  side("a"),
  side("b"),
  {
    key: "contribution",
    title: LABELS.contribution,
    kind: "ns",
    about: aboutOf("contribution_ns"),
    width: "104px",
    value: (row) => Math.abs(changeOf(row)),
    show: (row) => <Change row={row} />,
  },
  {
    key: "interval",
    title: LABELS.interval,
    kind: "text",
    about: aboutOf("low_ns"),
    width: "172px",
    value: (row) => (isTimed(row) ? row.low_ns : null),
    show: (row) =>
      !isTimed(row) || row.low_ns === null || row.high_ns === null
        ? "–"
        : `${signedTime(row.low_ns)} … ${signedTime(row.high_ns)}`,
  },
  {
    key: "certainty",
    title: LABELS.certaintyTitle,
    kind: "text",
    about: aboutOf("significant"),
    width: "92px",
    value: (row) => certainty(row.significant),
    show: (row) => LABELS.certainty[certainty(row.significant)],
  },
  { key: "message", title: LABELS.why, kind: "text", about: aboutOf("message"), width: "minmax(140px, 1.4fr)" },
];

/** The columns of saved tables. */
const SAVED = DIFF_COLUMNS.filter(
  ({ key }) => !["steps_a", "steps_b", "aligned_a", "aligned_b", "factor"].includes(key),
);

export function Changes({ rows }: { rows: readonly Changed[] }) {
  const wanted = search(param("q") ?? "");
  const only = param("certainty") ?? "";
  const kinds = useMemo(() => [...new Set(rows.map(({ kind }) => kind))], [rows]);
  const found = rows.filter(
    (row) =>
      wanted.matches(nameOf(row)) &&
      (!param("kind") || row.kind === param("kind")) &&
      (!only || certainty(row.significant) === only),
  );
  const cell = (key: string, row: Changed): unknown => (row as unknown as Record<string, unknown>)[key];
  const text = (value: unknown): string =>
    typeof value === "object" && value ? JSON.stringify(value) : String(value ?? "");
  const csv = (): string => {
    const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`;
    const lines = found.map((row) => SAVED.map(({ key }) => quoted(text(cell(key, row)))).join(","));
    return [SAVED.map(({ key }) => key).join(","), ...lines].join("\r\n");
  };
  return (
    <>
      <div class="toolbar">
        <SearchBox name="q" label={PAGE_TEXTS.filter} />
        <label class="select">
          {LABELS.kind}{" "}
          <select value={param("kind") ?? ""} onChange={(event) => setParams({ kind: event.currentTarget.value })}>
            {["", ...kinds].map((one) => (
              <option key={one} value={one}>
                {one || LABELS.all}
              </option>
            ))}
          </select>
        </label>
        <label class="select">
          {LABELS.certaintyTitle}{" "}
          <select value={only} onChange={(event) => setParams({ certainty: event.currentTarget.value })}>
            {(["", "change", "noise", "unknown"] as const).map((one) => (
              <option key={one} value={one}>
                {one ? LABELS.certainty[one] : LABELS.all}
              </option>
            ))}
          </select>
        </label>
        <span class="spring" />
        <button type="button" onClick={() => void copy(asTabs(SAVED, found, cell))}>
          {PAGE_TEXTS.copy}
        </button>
        <button type="button" onClick={() => save("compare.csv", "text/csv", csv())}>
          {PAGE_TEXTS.csv}
        </button>
        <button type="button" onClick={() => save("compare.json", "application/json", JSON.stringify(found))}>
          {PAGE_TEXTS.json}
        </button>
      </div>
      <Table
        label={LABELS.comparison}
        columns={COLUMNS}
        rows={found}
        keyOf={(row) => `${row.kind} ${row.name} ${"message" in row ? row.message : ""}`}
      />
    </>
  );
}
