// Ranks: who was late and why, the ranks in each step, collectives, groups and clocks.

import { useMemo } from "preact/hooks";
import type { RanksRow, RemoteRun } from "kinetoscope/remote";
import { copy, save } from "../../components/download";
import { LeftOutList } from "../../components/opening";
import { Await, Card, Head, Panel, To } from "../../components/parts";
import { exact, count, share, time } from "../../model/format";
import { ofKind } from "../../model/kinds";
import { shortRanges } from "../../model/run";
import type { View } from "../../model/views";
import { currentRun, factsOf, runFailure } from "../../state/run";
import { TEMPLATES, TEXTS } from "../../strings";
import { Collectives } from "./collectives";
import { Heat } from "./heat";
import { Late, Notes } from "./late";
import { Merge } from "./merge";
import { Clocks, Fitness, Groups, RankList } from "./tables";

const LABELS = TEXTS.ranks;

function Cards({ rows }: { rows: readonly RanksRow[] }) {
  const [run] = ofKind(rows, "run");
  const ranks = ofKind(rows, "rank");
  const sum = (of: "waited_ns" | "wall_ns" | "communication_ns"): number =>
    ranks.reduce((all, row) => all + row[of], 0);
  const missing = (run?.missing ?? []) as number[];
  const wall = sum("wall_ns");
  const steps = ofKind(rows, "step").length;
  return (
    <div class="cards">
      <Card
        id="ranks"
        label={LABELS.ranks}
        value={
          run?.world_size == null ? count(ranks.length) : TEMPLATES.partOf(count(ranks.length), count(run.world_size))
        }
        about={LABELS.ranksHint}
        note={missing.length > 0 ? TEMPLATES.missingRanks(shortRanges(missing)) : undefined}
      />
      <Card label={LABELS.steps} value={count(steps)} about={LABELS.stepsHint} />
      <Card id="matched" label={LABELS.matched} value={count(run?.matched ?? 0)} about={LABELS.matchedHint} />
      <Card
        label={LABELS.waits}
        value={time(sum("waited_ns"))}
        exact={exact("ns", sum("waited_ns"))}
        about={LABELS.waitsHint}
        note={wall > 0 ? TEMPLATES.shareOfSteps(share(sum("waited_ns") / wall)) : undefined}
      />
      <Card
        label={LABELS.communication}
        value={wall > 0 ? share(sum("communication_ns") / wall) : "–"}
        exact={exact("ns", sum("communication_ns"))}
        about={LABELS.communicationHint}
      />
    </div>
  );
}

function Found({ run, rows }: { run: RemoteRun; rows: readonly RanksRow[] }) {
  const ranks = useMemo(() => ofKind(rows, "rank"), [rows]);
  return (
    <>
      {runFailure.value ? (
        <p class="failure" role="alert">
          {runFailure.value}
        </p>
      ) : null}
      <Cards rows={rows} />
      <Late rows={rows} />
      <Notes notes={ofKind(rows, "note")} />
      <Heat run={run} ranks={ranks} />
      <RankList ranks={ranks} />
      <Collectives run={run} rows={rows} />
      <div class="columns">
        <Groups rows={ofKind(rows, "group")} />
        <Clocks rows={ofKind(rows, "clock")} />
      </div>
      <Fitness rows={ofKind(rows, "fitness")} />
    </>
  );
}

function Actions({ run, rows }: { run: RemoteRun; rows: readonly RanksRow[] }) {
  return (
    <>
      <Merge rows={rows} />
      <button type="button" data-hint={LABELS.copyHint} onClick={async () => copy(await run.table())}>
        {LABELS.copy}
      </button>
      <button
        type="button"
        data-hint={LABELS.saveHint}
        onClick={async () => {
          const file = (await run.rankSummaries()) as Uint8Array<ArrayBuffer>;
          save("run.ksum", "application/octet-stream", new Blob([file]));
        }}
      >
        {LABELS.save}
      </button>
    </>
  );
}

function Open({ run }: { run: RemoteRun }) {
  const answer = factsOf(run);
  const known = answer.value;
  return (
    <>
      <Head view="ranks">{known.state === "ready" ? <Actions run={run} rows={known.value} /> : null}</Head>
      <Await answer={answer}>{(rows) => <Found run={run} rows={rows} />}</Await>
    </>
  );
}

export function Ranks() {
  const run = currentRun.value;
  const known = run?.value;
  if (known?.state === "ready") return <Open run={known.value} />;
  return (
    <>
      <Head view="ranks" />
      {run ? (
        <Await answer={run}>{() => null}</Await>
      ) : (
        <Panel title={LABELS.none}>
          <p>{LABELS.noneHint}</p>
          <LeftOutList />
        </Panel>
      )}
    </>
  );
}

/** What the views of a trace show while a run is open and none of its traces. */
export function NoRank({ view }: { view: View }) {
  return (
    <>
      <Head view={view} />
      <Panel title={LABELS.noRank}>
        <p>
          {LABELS.noRankHint} <To view="ranks">{LABELS.toRanks}</To>
        </p>
      </Panel>
    </>
  );
}
