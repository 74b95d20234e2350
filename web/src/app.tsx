// The frame of the page: header, navigation, opening of traces, and parts that all views share.

import { useEffect } from "preact/hooks";
import { Hints } from "./components/hints";
import { Keys } from "./components/keys";
import { LiveBar, LiveWaiting } from "./components/live-bar";
import { FailureList, Opening } from "./components/opening";
import { Topbar } from "./components/topbar";
import { DropZone } from "./components/drop";
import { count } from "./model/format";
import { VIEWS, type View } from "./model/views";
import { isLive } from "./state/live";
import { addressOf, route, view } from "./state/route";
import { current, loading, relation, traces, type OpenTrace } from "./state/session";
import { PAGE_TEXTS, TEXTS, VIEW_TEXTS } from "./strings";
import { To } from "./components/parts";
import { Compare } from "./views/compare";
import { Findings } from "./views/findings";
import { FlameView } from "./views/flame";
import { Kernels } from "./views/kernels";
import { MemoryView } from "./views/memory";
import { Modules } from "./views/modules";
import { Operators } from "./views/operators";
import { Overview } from "./views/overview";
import { Steps } from "./views/steps";
import { TimelineView } from "./views/timeline";

const LABELS = TEXTS.app;

const COMPONENTS: Record<View, (props: { open: OpenTrace }) => preact.JSX.Element> = {
  overview: Overview,
  timeline: TimelineView,
  operators: Operators,
  kernels: Kernels,
  flame: FlameView,
  memory: MemoryView,
  modules: Modules,
  steps: Steps,
  compare: Compare,
  findings: Findings,
};

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
  const Shown = COMPONENTS[view.value];
  useEffect(() => {
    document.title = open ? `${open.name} · ${VIEW_TEXTS[view.value].title} · ${PAGE_TEXTS.title}` : PAGE_TEXTS.title;
  }, [open, view.value]);
  const isReading = loading.value.some((entry) => !entry.failure);
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
      {open && !isReading ? (
        <div class="body">
          <Navigation />
          <main id="content" tabIndex={-1} data-view={view.value}>
            <FailureList />
            <Unclear />
            <Damage open={open} />
            <Shown key={`${traces.value.indexOf(open)} ${view.value}`} open={open} />
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
