// The heat map of ranks and steps.

import { useMemo } from "preact/hooks";
import type { RemoteRun } from "kinetoscope/remote";
import { HeatLegend, HeatMap } from "../../components/heat-map";
import { Await, Panel } from "../../components/parts";
import { time } from "../../model/format";
import { gridOf, linesOf, MEASURES, ORDERS, scaleOf, type Grid, type Line, type Measure } from "../../model/heat-map";
import { shortRanges, type RankRow } from "../../model/run";
import { ask } from "../../state/ask";
import { param, setParams } from "../../state/route";
import { showRank } from "../../state/run";
import { TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.ranks;

/** The number of ranks from which those that behave alike are one line. */
const MANY = 64;

function chosen<T extends string>(name: string, known: readonly T[]): T {
  return known.find((one) => one === param(name)) ?? (known[0] as T);
}

function Map({ grid, ranks }: { grid: Grid; ranks: readonly RankRow[] }) {
  const [measure, order] = [chosen("measure", MEASURES), chosen("order", ORDERS)];
  const classes = useMemo(() => new globalThis.Map(ranks.map((row) => [row.rank, row.class])), [ranks]);
  const alike = (param("alike") ?? (ranks.length > MANY ? "yes" : "no")) === "yes";
  const lines = useMemo(
    () => linesOf(grid, measure, order, alike ? (rank) => classes.get(rank) ?? -1 - rank : undefined),
    [grid, measure, order, alike, classes],
  );
  const scale = useMemo(() => scaleOf(lines, measure), [lines, measure]);
  const nameOf = (line: Line): string =>
    line.ranks.length === 1
      ? TEMPLATES.rankNumber(line.ranks[0] as number)
      : TEMPLATES.alikeRanks(shortRanges(line.ranks, 16), line.ranks.length);
  const open = (line: Line): void => {
    const trace = ranks.find((row) => row.rank === line.ranks[0])?.trace;
    if (trace !== undefined) void showRank(trace);
  };
  const { label, about } = LABELS.measures[measure];
  return (
    <>
      <div class="toolbar">
        <div class="tabs" role="tablist">
          {MEASURES.map((one: Measure) => (
            <button
              key={one}
              type="button"
              role="tab"
              aria-selected={one === measure}
              data-measure={one}
              data-hint={LABELS.measures[one].about}
              onClick={() => setParams({ measure: one })}
            >
              {LABELS.measures[one].label}
            </button>
          ))}
        </div>
        <label class="select">
          {LABELS.order}{" "}
          <select data-order value={order} onChange={(event) => setParams({ order: event.currentTarget.value })}>
            {ORDERS.map((one) => (
              <option key={one} value={one}>
                {LABELS.orders[one]}
              </option>
            ))}
          </select>
        </label>
        <label class="select" data-hint={LABELS.alikeHint}>
          <input
            type="checkbox"
            data-alike
            checked={alike}
            onChange={(event) => setParams({ alike: event.currentTarget.checked ? "yes" : "no" })}
          />{" "}
          {LABELS.alike}
        </label>
        <span class="spring" />
        <HeatLegend label={label} low={time(scale[0])} high={time(scale[1])} />
      </div>
      <HeatMap
        label={TEMPLATES.heatMap(label, lines.length, grid.steps.length)}
        lines={lines}
        steps={grid.steps}
        scale={scale}
        nameOf={nameOf}
        onOpen={open}
        idle={`${about} ${LABELS.heatTip}`}
        tip={(line, step) => {
          const value = line.values[step] as number;
          const text = Number.isNaN(value) ? LABELS.noStep : `${label} ${time(value)}`;
          return TEMPLATES.heatCell(nameOf(line), grid.steps[step] as number, text, LABELS.excess, time(line.excess));
        }}
      />
    </>
  );
}

export function Heat({ run, ranks }: { run: RemoteRun; ranks: readonly RankRow[] }) {
  const answer = ask(run, "grid", async (from) => gridOf(await from.columns({ kinds: ["rank_step"] })));
  return (
    <Panel title={LABELS.heat} about={LABELS.heatHint} id="heat">
      <Await answer={answer}>
        {(grid) =>
          grid.steps.length === 0 ? <p class="quiet">{LABELS.noSteps}</p> : <Map grid={grid} ranks={ranks} />
        }
      </Await>
    </Panel>
  );
}
