// Compare: the differences of two runs, by operator and by kernel.

import { useMemo } from "preact/hooks";
import { SearchBox } from "../components/search-box";
import type { KernelsRow, OpsRow, SummaryRow } from "kinetoscope/remote";
import { copy, save } from "../components/download";
import { FileButton } from "../components/opening";
import { Await, Card, Head, Panel } from "../components/parts";
import { Table, type TableColumn } from "../components/table";
import { compare, type Pair } from "../model/compare";
import { exact, time } from "../model/format";
import { search } from "../model/search";
import { asTabs } from "../model/sorting";
import { rowsOf } from "../state/ask";
import { numberParam, param, setParams } from "../state/route";
import { addFiles } from "../state/opening";
import { traces, type OpenTrace } from "../state/session";
import { HINTS, PAGE_TEXTS, TEMPLATES, TEXTS } from "../strings";

const LABELS = TEXTS.compare;
const SHARED = TEXTS.shared;

const percent = (ratio: number): string => `${ratio >= 1 ? "+" : "−"}${Math.abs((ratio - 1) * 100).toFixed(1)}%`;

function Chooser({ name, label, at }: { name: "a" | "b"; label: string; at: number }) {
  return (
    <label class="select">
      {label}{" "}
      <select value={at} data-side={name} onChange={(event) => setParams({ [name]: event.currentTarget.value })}>
        {traces.value.map((trace, position) => (
          <option key={position} value={position}>
            {trace.name}
          </option>
        ))}
      </select>
    </label>
  );
}

const KINDS = {
  ops: { label: LABELS.operatorsBySelfCpu, column: LABELS.selfCpu },
  device: { label: LABELS.operatorsBySelfDevice, column: LABELS.selfDevice },
  kernels: { label: SHARED.kernels, column: LABELS.total },
} as const;

type Kind = keyof typeof KINDS;

function columnsOf<Row>(title: string): TableColumn<Pair<Row>>[] {
  const count = (row: Row | undefined): number | null => (row as { count: number } | undefined)?.count ?? null;
  return [
    { key: "name", title: SHARED.name, kind: "text", about: LABELS.nameHint, width: "minmax(220px, 2fr)" },
    {
      key: "change",
      title: LABELS.change,
      kind: "text",
      about: LABELS.changeHint,
      width: "90px",
      show: (row) => <span class={`change ${row.change}`}>{row.change}</span>,
    },
    { key: "beforeNs", title: TEMPLATES.inRunA(title), kind: "ns", about: LABELS.firstRunHint, bar: true },
    { key: "afterNs", title: TEMPLATES.inRunB(title), kind: "ns", about: LABELS.secondRunHint, bar: true },
    {
      key: "difference",
      title: LABELS.difference,
      kind: "ns",
      about: LABELS.differenceHint,
      value: (row) => Math.abs(row.differenceNs),
      show: (row) => (
        <span
          class={row.differenceNs > 0 ? "worse" : row.differenceNs < 0 ? "better" : ""}
        >{`${row.differenceNs > 0 ? "+" : row.differenceNs < 0 ? "−" : ""}${time(Math.abs(row.differenceNs))}`}</span>
      ),
    },
    {
      key: "ratio",
      title: "B / A",
      kind: "float",
      about: LABELS.ratioHint,
      show: (row) => (row.ratio === null ? "–" : percent(row.ratio)),
    },
    {
      key: "countA",
      title: LABELS.callsA,
      kind: "int",
      about: LABELS.callsAHint,
      value: (row) => count(row.before),
      width: "84px",
    },
    {
      key: "countB",
      title: LABELS.callsB,
      kind: "int",
      about: LABELS.callsBHint,
      value: (row) => count(row.after),
      width: "84px",
    },
  ];
}

function Pairs<Row>({ pairs, title }: { pairs: readonly Pair<Row>[]; title: string }) {
  const columns = useMemo(() => columnsOf<Row>(title), [title]);
  const wanted = search(param("q") ?? "");
  const shown = pairs.filter(
    (pair) => wanted.matches(pair.name) && (!param("change") || pair.change === param("change")),
  );
  const values = shown.map(({ name, change, beforeNs, afterNs, differenceNs, ratio }) => ({
    name,
    change,
    before_ns: beforeNs,
    after_ns: afterNs,
    difference_ns: differenceNs,
    ratio,
  }));
  const keys = ["name", "change", "before_ns", "after_ns", "difference_ns", "ratio"].map((key) => ({
    key,
    title: key,
  }));
  const csv = (): string =>
    [keys, ...values]
      .map((row, at) =>
        keys
          .map(({ key }) =>
            at === 0 ? key : `"${String((row as Record<string, unknown>)[key] ?? "").replaceAll('"', '""')}"`,
          )
          .join(","),
      )
      .join("\r\n");
  return (
    <>
      <div class="toolbar">
        <SearchBox name="q" label={PAGE_TEXTS.filter} />
        <label class="select">
          Change{" "}
          <select value={param("change") ?? ""} onChange={(event) => setParams({ change: event.currentTarget.value })}>
            {["", "changed", "new", "gone", "same"].map((one) => (
              <option key={one} value={one}>
                {one || "all"}
              </option>
            ))}
          </select>
        </label>
        <span class="spring" />
        <button
          type="button"
          onClick={() => void copy(asTabs(keys, values, (key, row) => (row as Record<string, unknown>)[key]))}
        >
          {PAGE_TEXTS.copy}
        </button>
        <button type="button" onClick={() => save("compare.csv", "text/csv", csv())}>
          {PAGE_TEXTS.csv}
        </button>
        <button type="button" onClick={() => save("compare.json", "application/json", JSON.stringify(values))}>
          {PAGE_TEXTS.json}
        </button>
      </div>
      <Table
        label={LABELS.comparison}
        columns={columns}
        rows={shown}
        keyOf={(pair) => pair.name}
        sort={{ key: "difference", descending: true }}
      />
    </>
  );
}

function Totals({ a, b }: { a: SummaryRow; b: SummaryRow }) {
  const sum = (summary: SummaryRow, of: "busy_ns" | "sum_ns" | "idle_ns"): number =>
    summary.devices.reduce((all, device) => all + device[of], 0);
  const card = (label: string, was: number, is: number, about: string) =>
    was === 0 && is === 0 ? null : (
      <Card
        label={label}
        value={`${time(was)} → ${time(is)}`}
        exact={TEMPLATES.valuesOfBoth(exact("ns", was), exact("ns", is))}
        about={about}
        note={was > 0 ? percent(is / was) : undefined}
      />
    );
  return (
    <div class="cards cards-wide">
      {card(LABELS.wallTime, a.wall_ns, b.wall_ns, HINTS.wall)}
      {card(LABELS.meanStep, a.mean_step_ns ?? 0, b.mean_step_ns ?? 0, LABELS.meanStepHint)}
      {card(LABELS.selfCpu, a.self_cpu_time_total_ns, b.self_cpu_time_total_ns, HINTS.selfCpu)}
      {card(LABELS.deviceBusy, sum(a, "busy_ns"), sum(b, "busy_ns"), HINTS.deviceBusy)}
      {card(LABELS.deviceSum, sum(a, "sum_ns"), sum(b, "sum_ns"), HINTS.deviceSum)}
      {card(LABELS.deviceIdle, sum(a, "idle_ns"), sum(b, "idle_ns"), HINTS.deviceIdle)}
    </div>
  );
}

function Two({ a, b }: { a: OpenTrace; b: OpenTrace }) {
  const kind: Kind = (param("kind") as Kind | undefined) ?? "ops";
  const ofBoth = <V extends "ops" | "kernels" | "summary">(query: V) =>
    [rowsOf(a.trace, query), rowsOf(b.trace, query)] as const;
  const [summaryA, summaryB] = ofBoth("summary");
  const operators = (timeOf: (row: OpsRow) => number) => {
    const [first, second] = ofBoth("ops");
    return (
      <Await answer={first}>
        {(before) => (
          <Await answer={second}>
            {(after) => <Pairs pairs={compare(before, after, (row) => row.name, timeOf)} title={KINDS[kind].column} />}
          </Await>
        )}
      </Await>
    );
  };
  const kernels = () => {
    const [first, second] = ofBoth("kernels");
    const nameOf = (row: KernelsRow): string => row.name;
    return (
      <Await answer={first}>
        {(before) => (
          <Await answer={second}>
            {(after) => (
              <Pairs pairs={compare(before, after, nameOf, (row) => row.sum_ns)} title={KINDS[kind].column} />
            )}
          </Await>
        )}
      </Await>
    );
  };
  return (
    <>
      <Await answer={summaryA}>
        {([one]) => <Await answer={summaryB}>{([two]) => (one && two ? <Totals a={one} b={two} /> : null)}</Await>}
      </Await>
      <div class="tabs" role="tablist">
        {(Object.keys(KINDS) as Kind[]).map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            aria-selected={one === kind}
            onClick={() => setParams({ kind: one })}
          >
            {KINDS[one].label}
          </button>
        ))}
      </div>
      {kind === "kernels"
        ? kernels()
        : operators(kind === "ops" ? (row) => row.self_cpu_time_total_ns : (row) => row.self_device_time_total_ns)}
    </>
  );
}

export function Compare(_: { open: OpenTrace }) {
  const [atA, atB] = [numberParam("a") ?? 0, numberParam("b") ?? 1];
  const [a, b] = [traces.value[atA], traces.value[atB]];
  return (
    <>
      <Head view="compare">
        {traces.value.length > 1 ? (
          <>
            <Chooser name="a" label="A" at={atA} />
            <Chooser name="b" label="B" at={atB} />
          </>
        ) : null}
        <FileButton label={PAGE_TEXTS.compareWith} onFiles={(files) => void addFiles(files)} />
      </Head>
      {a && b ? (
        <Two a={a} b={b} />
      ) : (
        <Panel title={LABELS.oneTraceOpen}>
          <p>
            {PAGE_TEXTS.compareWith}. It is opened in addition to <b>{traces.value[0]?.name}</b>. You can also drop two
            files at once.
          </p>
        </Panel>
      )}
    </>
  );
}
