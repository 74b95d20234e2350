// The statistics of a selected stretch of time on some lanes.

import { columnsOf } from "../../components/answer-table";
import { save } from "../../components/download";
import { Await } from "../../components/parts";
import { Table } from "../../components/table";
import { count, time } from "../../model/format";
import { rowsOf } from "../../state/ask";
import { setParams } from "../../state/route";
import { T } from "../../strings";
import type { Timeline } from "./controller";

const COLUMNS = columnsOf(
  "names",
  ["name", "category", "total_ns", "self_ns", "mean_ns", "min_ns", "max_ns", "count"],
  {
    name: {
      width: "minmax(200px, 2fr)",
      show: (row) => (
        <button type="button" class="link" onClick={() => setParams({ q: row.name })}>
          {row.name}
        </button>
      ),
    },
    category: { width: "120px" },
    total_ns: { bar: true },
    count: { width: "78px" },
  },
);

export function SelectionPanel({ timeline }: { timeline: Timeline }) {
  const selection = timeline.selection.value;
  if (!selection) return null;
  const options = { time: [selection.start, selection.end] as const, tracks: selection.tracks };
  const file = async (format: "csv" | "json"): Promise<void> =>
    save(
      `selection.${format}`,
      format === "csv" ? "text/csv" : "application/json",
      await timeline.trace[format]("names", options),
    );
  return (
    <section class="panel details" aria-label="Selection" data-selection>
      <div class="panel-head">
        <h2>
          {time(selection.end - selection.start)} selected{" "}
          <small>
            on {count(selection.tracks.length)} {selection.tracks.length === 1 ? "lane" : "lanes"}
          </small>
        </h2>
        <button type="button" data-hint="Zoom to it (F)" onClick={() => timeline.fit()}>
          Zoom
        </button>
        <button type="button" onClick={() => void file("csv")}>
          {T.csv}
        </button>
        <button type="button" onClick={() => void file("json")}>
          {T.json}
        </button>
        <button
          type="button"
          aria-label={T.close}
          data-hint="Close (Esc)"
          onClick={() => setParams({ area: undefined })}
        >
          ×
        </button>
      </div>
      <Await answer={rowsOf(timeline.trace, "names", options)}>
        {(rows) => (
          <Table
            label="What is selected"
            fit={9}
            rows={rows}
            columns={COLUMNS}
            keyOf={(row) => `${row.name} ${row.category}`}
            sort={{ key: "total_ns", descending: true }}
          />
        )}
      </Await>
    </section>
  );
}
