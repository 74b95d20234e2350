// The frame of the page: header, navigation, opening of traces, and parts that all views share.

import { useEffect } from "preact/hooks";
import { Hints } from "./components/hints";
import { Keys } from "./components/keys";
import { LiveBar, LiveWaiting } from "./components/live-bar";
import { FailureList, FileButton, NotJoinedList, Opening } from "./components/opening";
import { Topbar } from "./components/topbar";
import { DropZone } from "./components/drop";
import { WindowBar } from "./components/window-bar";
import { count } from "./model/format";
import { VIEWS, type View } from "./model/views";
import { visible } from "./model/visible";
import { history } from "./state/history";
import { isLive } from "./state/live";
import { openFiles } from "./state/opening";
import { addressOf, route, view } from "./state/route";
import { fileRun, runProgress } from "./state/run";
import { current, loading, relation, traces, type OpenTrace } from "./state/session";
import { PAGE_TEXTS, TEXTS, VIEW_TEXTS } from "./strings";
import { Head, Panel, To } from "./components/parts";
import { Compare } from "./views/compare";
import { Compiled } from "./views/compiled";
import { Findings } from "./views/findings";
import { FlameView } from "./views/flame";
import { Kernels } from "./views/kernels";
import { MemoryView } from "./views/memory";
import { Modules } from "./views/modules";
import { Operators } from "./views/operators";
import { Overview } from "./views/overview";
import { NoRank, Ranks } from "./views/ranks";
import { Serving } from "./views/serving";
import { Sql } from "./views/sql";
import { Steps } from "./views/steps";
import { TimelineView } from "./views/timeline";
import { Trend } from "./views/trend";

const LABELS = TEXTS.app;

/** The views of a trace. */
const COMPONENTS: Record<Exclude<View, "ranks" | "trend">, (props: { open: OpenTrace }) => preact.JSX.Element> = {
  overview: Overview,
  timeline: TimelineView,
  operators: Operators,
  kernels: Kernels,
  compiled: Compiled,
  flame: FlameView,
  memory: MemoryView,
  modules: Modules,
  steps: Steps,
  serving: Serving,
  compare: Compare,
  findings: Findings,
  sql: Sql,
};

/** The view of the route. A run without an open trace has only the view of its ranks. */
function Shown({ open }: { open: OpenTrace | undefined }) {
  const name = view.value;
  if (name === "trend") return <Trend />;
  if (name === "ranks") return <Ranks />;
  if (!open) return fileRun.value ? <NoRank view={name} /> : <NoTrace view={name} />;
  const View = COMPONENTS[name];
  return <View key={`${traces.value.indexOf(open)} ${name}`} open={open} />;
}

/** A view of a trace while only a history is open. */
function NoTrace({ view: name }: { view: View }) {
  return (
    <>
      <Head view={name} />
      <Panel title={LABELS.noTrace}>
        <FileButton label={PAGE_TEXTS.chooseFiles} onFiles={(files) => void openFiles(files)} />
      </Panel>
    </>
  );
}

function Navigation() {
  // Subscribes to the route: the addresses of the links depend on it.
  void route.value;
  return (
    <nav class="nav" aria-label={LABELS.views}>
      {VIEWS.map((name) => (
        <a
          key={name}
          href={addressOf(name)}
          aria-current={view.value === name ? "page" : undefined}
          data-view={name}
          data-hint={VIEW_TEXTS[name].question}
        >
          <kbd aria-hidden="true">{VIEW_TEXTS[name].key}</kbd>
          {VIEW_TEXTS[name].title}
        </a>
      ))}
    </nav>
  );
}

function Unclear() {
  if (relation.value !== "unclear") return null;
  return (
    <div class="banner" role="alertdialog" aria-label={PAGE_TEXTS.relationQuestion}>
      {PAGE_TEXTS.relationQuestion}
      <button type="button" onClick={() => (relation.value = "ranks")}>
        {PAGE_TEXTS.ranksOfOneRun}
      </button>
      <button type="button" onClick={() => (relation.value = "runs")}>
        {PAGE_TEXTS.runsToCompare}
      </button>
    </div>
  );
}

function Damage({ open }: { open: OpenTrace }) {
  const lost = open.diagnostics.filter((one) => one.severity === "lost");
  if (lost.length === 0) return null;
  return (
    <div class="banner warning" role="status">
      {PAGE_TEXTS.damaged(count(lost.reduce((sum, one) => sum + one.count, 0)))}{" "}
      <To view="overview" with={{ at: "data-quality" }}>
        {PAGE_TEXTS.damageDetails}
      </To>
    </div>
  );
}

export function App() {
  const open = current.value;
  useEffect(() => {
    const { title } = VIEW_TEXTS[view.value];
    const name = view.value === "trend" ? history.value?.name : open?.name;
    document.title = name ? `${visible(name)} · ${title} · ${PAGE_TEXTS.title}` : PAGE_TEXTS.title;
  }, [open, view.value, history.value]);
  const isReading = runProgress.value !== undefined || loading.value.some((entry) => !entry.failure);
  return (
    <DropZone>
      <a
        class="skip"
        href="#content"
        onClick={(event) => (event.preventDefault(), document.getElementById("content")?.focus())}
      >
        {PAGE_TEXTS.skipToContent}
      </a>
      <Topbar />
      <LiveBar />
      {(open || fileRun.value || history.value) && !isReading ? (
        <div class="body">
          <Navigation />
          <main id="content" tabIndex={-1} data-view={view.value}>
            <FailureList />
            <NotJoinedList />
            <Unclear />
            {open ? <Damage open={open} /> : null}
            {open ? <WindowBar open={open} /> : null}
            <Shown open={open} />
          </main>
        </div>
      ) : (
        <main id="content" class="start" tabIndex={-1}>
          {isLive.value ? <LiveWaiting /> : <Opening />}
        </main>
      )}
      <Keys />
      <Hints />
    </DropZone>
  );
}
