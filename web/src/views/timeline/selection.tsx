// The statistics of a selected time range on some tracks.

import { columnsOf } from "../../components/answer-table";
import { Save } from "../../components/save";
import { Await, ToSamples } from "../../components/parts";
import { Table } from "../../components/table";
import { count, label, time } from "../../model/format";
import { rowsOf } from "../../state/ask";
import { setParams } from "../../state/route";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../../strings";
import type { Timeline } from "./controller";

const LABELS = TEXTS.timelineSelection;
const SHARED = TEXTS.shared;

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
    category: { width: "120px", show: (row) => (row.category === null ? "–" : label(row.category)) },
    total_ns: { bar: true },
    count: { width: "78px" },
  },
);

export function SelectionPanel({ timeline }: { timeline: Timeline }) {
  const selection = timeline.selection.value;
  if (!selection) return null;
  const options = { time: [selection.start, selection.end] as const, tracks: selection.tracks };
  return (
    <section class="panel details" aria-label={LABELS.selection} data-selection>
      <div class="panel-head">
        <h2>
          {TEMPLATES.selectedTime(time(selection.end - selection.start))}{" "}
          <small>
            {TEMPLATES.onTracks(count(selection.tracks.length), selection.tracks.length === 1)}
            <ToSamples trace={timeline.trace} start={selection.start} end={selection.end} />
          </small>
        </h2>
        <button type="button" data-hint={SHARED.zoomToSelection} onClick={() => timeline.fit()}>
          Zoom
        </button>
        <Save trace={timeline.trace} query="names" options={options} />
        <button
          type="button"
          aria-label={PAGE_TEXTS.close}
          data-hint={SHARED.closeHint}
          onClick={() => setParams({ area: undefined })}
        >
          ×
        </button>
      </div>
      <Await answer={rowsOf(timeline.trace, "names", options)}>
        {(rows) => (
          <Table
            label={LABELS.selectedEvents}
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
