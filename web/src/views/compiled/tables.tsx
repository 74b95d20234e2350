// Tables of compiled graphs, their kernels, and graph breaks.

import { useMemo } from "preact/hooks";
import type { CompiledCompiledGraphRow, CompiledCompiledKernelRow, CompiledGraphBreakRow } from "kinetoscope/remote";
import { AnswerTable, columnsOfKind } from "../../components/answer-table";
import { Panel, To } from "../../components/parts";
import { SourceText } from "../../components/source";
import { Table } from "../../components/table";
import { label } from "../../model/format";
import type { OpenTrace } from "../../state/session";
import { PAGE_TEXTS, TEXTS } from "../../strings";

const LABELS = TEXTS.compiled;

type Graph = CompiledCompiledGraphRow;
type Kernel = CompiledCompiledKernelRow;
type Break = CompiledGraphBreakRow;

/** The number of rows that are shown at once. */
const FIT = 14;

const hasValue = <Row,>(rows: readonly Row[], key: keyof Row): boolean => rows.some((row) => row[key] !== null);

/** How a graph is named, as on the command line: its compile id and its pass, else the beginning of its key. */
function nameOf({ compile_id, graph_kind, key, calls, cached }: Graph): string {
  const pass = graph_kind === null ? undefined : label(graph_kind);
  // Only AOTInductor calls graphs that have none of these, and the trace does not show its calls.
  const unnamed = calls === 0 ? LABELS.aotInductor : LABELS.unknownGraph;
  if (compile_id === null) return key?.slice(0, 12) ?? pass ?? unnamed;
  return [compile_id, pass, cached ? LABELS.cached : undefined].filter(Boolean).join(" ");
}

export function Graphs({ graphs }: { graphs: readonly Graph[] }) {
  const columns = useMemo(() => {
    const optional = (["kernels", "compile_ns", "recompile_reason"] as const).filter((key) => hasValue(graphs, key));
    const times = graphs.some((row) => row.device_ns > 0)
      ? (["host_ns", "device_ns"] as const)
      : (["host_ns"] as const);
    const named = hasValue(graphs, "function") ? (["function"] as const) : [];
    return columnsOfKind<Graph>("compiled", ["graph", ...named, "calls", ...times, ...optional], {
      graph: {
        kind: "text",
        width: named.length > 0 ? "minmax(110px, 150px)" : "minmax(110px, 1fr)",
        value: nameOf,
        show: (row) => (
          <To view="timeline" with={{ event: row.event }} hint={PAGE_TEXTS.inTimeline}>
            {nameOf(row)}
          </To>
        ),
      },
      function: { width: "minmax(190px, 1.2fr)", wrap: true },
      calls: { width: "64px" },
      kernels: { width: "72px" },
      compile_ns: { width: "104px" },
      recompile_reason: { width: "minmax(230px, 1.6fr)", wrap: true },
    });
  }, [graphs]);
  return (
    <Panel title={LABELS.graphs} id="graphs">
      <Table label={LABELS.graphs} columns={columns} rows={graphs} keyOf={(row) => String(row.graph)} fit={FIT} />
    </Panel>
  );
}

export function Kernels(props: { open: OpenTrace; graphs: readonly Graph[]; kernels: readonly Kernel[] }) {
  const { open, graphs, kernels } = props;
  const columns = useMemo(() => {
    // Some files have the nodes of kernels, and not their operators.
    const parts = hasValue(kernels, "operators") ? "operators" : "nodes";
    const optional = (["source", parts] as const).filter((key) => hasValue(kernels, key));
    const times = kernels.some((row) => row.device_ns > 0)
      ? (["host_ns", "device_ns"] as const)
      : (["host_ns"] as const);
    const names = new Map(graphs.map((row) => [row.graph, nameOf(row)]));
    return columnsOfKind<Kernel>("compiled", ["name", "graph", "calls", ...times, ...optional], {
      name: {
        width: "minmax(270px, 1.7fr)",
        wrap: true,
        show: (row) => (
          <To view="timeline" with={{ event: row.event }} hint={PAGE_TEXTS.inTimeline}>
            {row.name}
          </To>
        ),
      },
      graph: { kind: "text", width: "minmax(100px, 130px)", value: (row) => names.get(row.graph) },
      calls: { width: "64px" },
      host_ns: { bar: true },
      device_ns: { bar: true },
      source: {
        width: "minmax(150px, 1fr)",
        wrap: true,
        show: (row) => (row.source === null ? "–" : <SourceText short source={row.source} by={null} />),
      },
      operators: { width: "minmax(210px, 1.8fr)", wrap: true },
      nodes: { width: "minmax(210px, 1.8fr)", wrap: true },
    });
  }, [graphs, kernels]);
  const byDevice = kernels.some((row) => row.device_ns > 0);
  return (
    <Panel title={LABELS.kernels} id="kernels" class="rows-panel">
      <AnswerTable<"compiled", Kernel>
        label={LABELS.kernels}
        trace={open.trace}
        query="compiled"
        rows={kernels}
        columns={columns}
        keyOf={(row) => `${row.graph} ${row.name} ${row.handle} ${row.event}`}
        textOf={(row) => `${row.name} ${row.source ?? ""} ${row.operators ?? ""}`}
        sort={{ key: byDevice ? "device_ns" : "host_ns", descending: true }}
        fit={FIT}
      />
    </Panel>
  );
}

export function Breaks({ breaks, hasFiles }: { breaks: readonly Break[]; hasFiles: boolean }) {
  if (!hasFiles) return null;
  return (
    <Panel title={LABELS.breaks} id="breaks">
      {breaks.length === 0 ? (
        <p class="quiet">{LABELS.noBreaks}</p>
      ) : (
        <Table
          label={LABELS.breaks}
          columns={columnsOfKind<Break>("compiled", ["line", "count", "compile_id", "reason"], {
            line: {
              width: "minmax(150px, 1fr)",
              wrap: true,
              show: (row) => <SourceText short source={row.line} by={null} />,
            },
            count: { width: "100px" },
            compile_id: { width: "minmax(90px, 110px)" },
            reason: { width: "minmax(250px, 3fr)", wrap: true },
          })}
          rows={breaks}
          keyOf={(row) => `${row.line} ${row.reason}`}
          fit={FIT}
        />
      )}
    </Panel>
  );
}
