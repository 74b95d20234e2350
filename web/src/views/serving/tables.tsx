// Tables of phases, groups, graph replays and iterations.

import type { ServingGraphRow, ServingGroupRow, ServingIterationRow } from "kinetoscope/remote";
import { AnswerTable, columnsOfKind } from "../../components/answer-table";
import { Panel, To } from "../../components/parts";
import { Table, type TableColumn } from "../../components/table";
import { Tabs } from "../../components/tabs";
import { label } from "../../model/format";
import { servingParts, type Serving } from "../../model/serving";
import { param, setParams } from "../../state/route";
import type { OpenTrace } from "../../state/session";
import { PAGE_TEXTS, TEXTS } from "../../strings";
import { Phase, placeOf, type Colors } from "./phase";

const LABELS = TEXTS.serving;

/** The number of rows that are shown at once. */
const FIT = 14;

interface Props {
  open: OpenTrace;
  serving: Serving;
  colors: Colors;
}

const GROUP_KEYS = [
  "phase",
  "count",
  "batch_mean",
  "tokens",
  "p50_ns",
  "p90_ns",
  "p99_ns",
  "tokens_per_second",
  "time_per_token_ns",
  "bound",
  "bound_share",
] as const satisfies readonly (keyof ServingGroupRow)[];

/** The columns of groups; `more` follow those that all tables of groups have. */
function groupColumns(colors: Colors, more: readonly (keyof ServingGroupRow)[]): TableColumn<ServingGroupRow>[] {
  return columnsOfKind<ServingGroupRow>("serving", [...GROUP_KEYS, ...more], {
    phase: { width: "minmax(96px, 1fr)", show: (row) => <Phase colors={colors} phase={row.phase} /> },
    bound: { width: "minmax(92px, 120px)", show: (row) => (row.bound === null ? "–" : label(row.bound)) },
  });
}

export function Phases({ serving, colors }: Omit<Props, "open">) {
  return (
    <Panel title={LABELS.phases} id="phases">
      <Table
        label={LABELS.phases}
        columns={groupColumns(colors, ["busy_ns"])}
        rows={serving.phases}
        keyOf={(row) => row.phase ?? ""}
        fit={FIT}
      />
    </Panel>
  );
}

function GroupTable({ open, serving, colors }: Props) {
  const parts = servingParts(serving.groups).map((part) => part.key);
  return (
    <AnswerTable<"serving", ServingGroupRow>
      label={LABELS.tables.group.label}
      trace={open.trace}
      query="serving"
      rows={serving.groups}
      columns={groupColumns(colors, ["wall_ns", ...parts])}
      keyOf={(row) => `${row.phase} ${row.batch_mean} ${row.tokens} ${row.wall_ns}`}
      textOf={(row) => label(row.phase ?? "")}
      fit={FIT}
    />
  );
}

function GraphTable({ open, serving }: Props) {
  if (serving.graphs.length === 0) return <p class="quiet">{LABELS.noGraphs}</p>;
  return (
    <AnswerTable<"serving", ServingGraphRow>
      label={LABELS.tables.graph.label}
      trace={open.trace}
      query="serving"
      rows={serving.graphs}
      columns={columnsOfKind<ServingGraphRow>(
        "serving",
        [
          "graph",
          "call",
          "launches",
          "activities",
          "time_ns",
          "mean_ns",
          "mean_gap_ns",
          "mean_call_ns",
          "mean_wait_ns",
        ],
        {
          call: {
            show: (row) => (
              <To view="timeline" with={{ event: row.event }} hint={PAGE_TEXTS.inTimeline}>
                {row.call}
              </To>
            ),
          },
          time_ns: { bar: true },
        },
      )}
      keyOf={(row) => String(row.graph)}
      textOf={(row) => row.call}
      fit={FIT}
    />
  );
}

function IterationTable({ open, serving, colors }: Props) {
  const parts = servingParts(serving.iterations).map((part) => part.key);
  return (
    <AnswerTable<"serving", ServingIterationRow>
      label={LABELS.tables.iteration.label}
      trace={open.trace}
      query="serving"
      rows={serving.iterations}
      columns={columnsOfKind<ServingIterationRow>(
        "serving",
        [
          "step",
          "name",
          "phase",
          "batch",
          "tokens",
          "start_ns",
          "wall_ns",
          "busy_ns",
          "range_ns",
          ...parts,
          "is_warm_up",
        ],
        {
          name: {
            width: "minmax(320px, 2fr)",
            show: (row) => (
              <To view="timeline" with={placeOf(row)} hint={PAGE_TEXTS.inTimeline}>
                {row.name}
              </To>
            ),
          },
          phase: { width: "minmax(96px, 120px)", show: (row) => <Phase colors={colors} phase={row.phase} /> },
          wall_ns: { bar: true },
          is_warm_up: { width: "84px" },
        },
      )}
      keyOf={(row) => String(row.event)}
      textOf={(row) => `${row.name} ${row.phase}`}
      fit={FIT}
    />
  );
}

const TABLES = { group: GroupTable, graph: GraphTable, iteration: IterationTable };

type Kind = keyof typeof TABLES;

const isKind = (text: string | undefined): text is Kind => text !== undefined && text in TABLES;

export function Details(props: Props) {
  const wanted = param("rows");
  const kind = isKind(wanted) ? wanted : "group";
  const Shown = TABLES[kind];
  const choice = (
    <Tabs
      label={LABELS.details}
      of={LABELS.tables}
      value={kind}
      onChange={(rows) => setParams({ rows, q: undefined, sort: undefined, order: undefined })}
    />
  );
  return (
    <Panel title={LABELS.details} id="details" actions={choice} class="rows-panel">
      <Shown {...props} />
    </Panel>
  );
}
