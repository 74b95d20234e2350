// Steps: their breakdown and outliers.

import { useMemo } from "preact/hooks";
import type { StepsRow } from "kinetoscope/remote";
import { AnswerTable, columnsOf } from "../components/answer-table";
import { Await, Card, Head, Missing, Panel, To } from "../components/parts";
import { StepChart, usedParts } from "../components/step-chart";
import { exact, time } from "../model/format";
import { quantile } from "../model/histogram";
import { deviations, OUTLIER } from "../model/steps";
import { rowsOf } from "../state/ask";
import { setParams } from "../state/route";
import type { OpenTrace } from "../state/session";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../strings";

const LABELS = TEXTS.steps;
const SHARED = TEXTS.shared;

type Row = StepsRow & { deviation: number };

function Cards({ rows }: { rows: readonly Row[] }) {
  const walls = Float64Array.from(rows, (row) => row.wall_ns).sort();
  const card = (label: string, value: number, about: string) => (
    <Card label={label} value={time(value)} exact={exact("ns", value)} about={about} />
  );
  const unlike = rows.filter((row) => Math.abs(row.deviation) >= OUTLIER).length;
  return (
    <div class="cards">
      {card(LABELS.medianStep, quantile(walls, 0.5), LABELS.medianStepHint)}
      {card(LABELS.shortest, walls[0] ?? 0, LABELS.shortestHint)}
      {card(LABELS.longest, walls[walls.length - 1] ?? 0, LABELS.longestHint)}
      <Card label={LABELS.outliers} value={String(unlike)} about={TEMPLATES.outlierHint(OUTLIER)} />
    </div>
  );
}

function All({ open, found }: { open: OpenTrace; found: readonly StepsRow[] }) {
  const rows = useMemo((): Row[] => {
    const far = deviations(found);
    return found.map((row, at) => ({ ...row, deviation: far[at] ?? 0 }));
  }, [found]);
  const parts = usedParts(rows).map((part) => part.key);
  const onStep = useMemo(() => (at: number) => setParams({ q: rows[at]?.name }), [rows]);
  return (
    <>
      <Cards rows={rows} />
      <Panel title={LABELS.wallTimeBreakdown}>
        <StepChart steps={rows} height={220} onStep={onStep} />
      </Panel>
      <AnswerTable
        label={SHARED.steps}
        trace={open.trace}
        query="steps"
        rows={rows}
        keyOf={(row) => `${row.name} ${row.start_ns}`}
        textOf={(row) => row.name}
        columns={[
          ...columnsOf("steps", ["name", "wall_ns"], {
            name: {
              title: LABELS.step,
              width: "minmax(150px, 1fr)",
              show: (row) => (
                <To
                  view="timeline"
                  with={{ start: row.start_ns, end: row.start_ns + row.wall_ns }}
                  hint={PAGE_TEXTS.inTimeline}
                >
                  {row.name}
                </To>
              ),
            },
            wall_ns: { title: SHARED.wall, bar: true },
          }),
          {
            key: "deviation",
            title: LABELS.deviation,
            kind: "float",
            width: "96px",
            about: LABELS.deviationHint,
            show: (row) => (
              <span class={Math.abs((row as Row).deviation) >= OUTLIER ? "outlier" : ""}>
                {(row as Row).deviation.toFixed(1).replace(/^-0\.0$/, "0.0")}
              </span>
            ),
          },
          ...columnsOf("steps", [...parts, "device_busy_ns", "device_sum_ns", "launched"]),
        ]}
      />
    </>
  );
}

export function Steps({ open }: { open: OpenTrace }) {
  return (
    <>
      <Head view="steps" />
      <Await answer={rowsOf(open.trace, "steps")}>
        {(found) => (found.length === 0 ? <Missing of="steps" /> : <All open={open} found={found} />)}
      </Await>
    </>
  );
}
