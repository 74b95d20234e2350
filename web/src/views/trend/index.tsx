// Trend: how the metrics of a history develop, and in which run they changed.

import { useMemo, useState } from "preact/hooks";
import type { TrendResult } from "kinetoscope/remote";
import { save } from "../../components/download";
import { FileButton } from "../../components/opening";
import { Await, Head, Panel } from "../../components/parts";
import { SearchBox } from "../../components/search-box";
import { TrendChart } from "../../components/trend-chart";
import { search } from "../../model/search";
import { changesOf, describeRun, hostsOf, seriesOf, shown, type Series } from "../../model/trend";
import { history, trendOf } from "../../state/history";
import { openFiles } from "../../state/opening";
import { param, setParams } from "../../state/route";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../../strings";
import { ChangeTable, Relative } from "./changes";

const LABELS = TEXTS.trend;

/** The number of charts that are shown at once. */
const MOST = 24;

/** The line of a chart: the run under the pointer, or the last value and its change. */
function Value({ series, runs, at }: { series: Series; runs: TrendResult["runs"]; at: number | undefined }) {
  const value = series.values[at ?? series.values.length - 1] ?? undefined;
  const run = at === undefined ? undefined : runs[at];
  const last = series.changes.at(-1);
  return (
    <p class="trend-line" data-run={run?.run}>
      <b>{value === undefined ? "–" : shown(series.unit, value)}</b>{" "}
      {run ? (
        <span class="quiet">{describeRun(run, TEMPLATES.run)}</span>
      ) : last ? (
        <>
          <Relative row={last} /> <span class="quiet">{TEMPLATES.inRun(last.run)}</span>
        </>
      ) : (
        <span class="quiet">{LABELS.noChange}</span>
      )}
    </p>
  );
}

function OneMetric({ series, runs }: { series: Series; runs: TrendResult["runs"] }) {
  const [at, setAt] = useState<number | undefined>(undefined);
  return (
    <section class="panel trend" data-metric={series.metric} data-changes={series.changes.length}>
      <h2 data-hint={series.metric}>{series.metric}</h2>
      <Value series={series} runs={runs} at={at} />
      <TrendChart series={series} onRun={setAt} />
    </section>
  );
}

function Charts({ all, runs }: { all: readonly Series[]; runs: TrendResult["runs"] }) {
  const shownMany = param("all") === "1" ? all.length : MOST;
  return (
    <>
      <div class="trends">
        {all.slice(0, shownMany).map((series) => (
          <OneMetric key={series.metric} series={series} runs={runs} />
        ))}
      </div>
      {all.length === 0 ? <p class="quiet">{PAGE_TEXTS.noMatchingRow}</p> : null}
      {all.length > shownMany ? (
        <button type="button" class="trend-more" onClick={() => setParams({ all: "1" })}>
          {TEMPLATES.allMetrics(all.length)}
        </button>
      ) : null}
    </>
  );
}

function Shown({ result, name }: { result: TrendResult; name: string }) {
  const all = useMemo(() => seriesOf(result), [result]);
  const changes = useMemo(() => changesOf(result), [result]);
  const wanted = search(param("q") ?? "");
  const only = param("only") === "changed";
  const found = all.filter(({ metric, changes }) => wanted.matches(metric) && (!only || changes.length > 0));
  const hosts = hostsOf(result);
  return (
    <>
      <p class="compare-verdict" data-verdict={changes.length}>
        {TEMPLATES.trendVerdict(all.length, result.runs.length, changes.length)}
        {hosts > 1 ? ` ${TEMPLATES.severalHosts(hosts)}` : ""}
      </p>
      <div class="toolbar">
        <SearchBox name="q" label={PAGE_TEXTS.filter} />
        <button
          type="button"
          aria-pressed={only}
          data-hint={LABELS.onlyChangedHint}
          onClick={() => setParams({ only: only ? undefined : "changed" })}
        >
          {LABELS.onlyChanged}
        </button>
        <span class="spring" />
        <button
          type="button"
          data-hint={LABELS.jsonHint}
          onClick={() => save(name.replace(/(\.jsonl)?$/, ".trend.json"), "application/json", result.json)}
        >
          {PAGE_TEXTS.json}
        </button>
      </div>
      {changes.length > 0 ? (
        <Panel title={LABELS.changes} id="changes">
          <ChangeTable rows={changes.filter(({ metric }) => wanted.matches(metric))} />
        </Panel>
      ) : null}
      <Charts all={found} runs={result.runs} />
    </>
  );
}

export function Trend() {
  const file = history.value;
  return (
    <>
      <Head view="trend">
        <FileButton label={LABELS.open} onFiles={(files) => void openFiles(files)} />
      </Head>
      {file ? (
        <Await key={file.name + file.lastModified} answer={trendOf(file)}>
          {(result) => <Shown result={result} name={file.name} />}
        </Await>
      ) : (
        <Panel title={LABELS.none}>
          <p>
            {LABELS.record} <code>{LABELS.command}</code>
          </p>
        </Panel>
      )}
    </>
  );
}
