// Groups of iterations as bars, whose parts are those of the wall time.

import type { ServingGroupRow } from "kinetoscope/remote";
import { hint } from "../../components/hints";
import { Panel } from "../../components/parts";
import { Tabs } from "../../components/tabs";
import { count, exact, share, time } from "../../model/format";
import { groupsInOrder, lengthOf, servingParts, steadyCount, type Measure, type Serving } from "../../model/serving";
import { param, setParams } from "../../state/route";
import { TEMPLATES, TEXTS } from "../../strings";
import { columnOf } from "./columns";
import { Phase, type Colors } from "./phase";

const LABELS = TEXTS.serving;

/** The number of groups that are shown. */
const SHOWN = 12;

/** The number next to a bar. */
const VALUES = { token: "time_per_token_ns", iteration: "p50_ns", share: "wall_ns" } as const;

/** Returns what distinguishes a group from others of its phase. */
function sizeOf(row: ServingGroupRow): string {
  const { batch_mean: batch, tokens } = row;
  if (batch === null && tokens === null) return TEMPLATES.iterations(row.count);
  const perIteration = Math.round((tokens ?? 0) / steadyCount(row));
  return [
    ...(batch === null ? [] : [TEMPLATES.requests(count(batch))]),
    ...(tokens === null ? [] : [TEMPLATES.tokens(count(perIteration))]),
  ].join(", ");
}

function Group({ row, colors, measure, longest }: GroupProps) {
  const length = lengthOf(row, measure);
  const parts = servingParts([row]);
  const text = parts.map((part) => `${part.label} ${share(row[part.key] / row.wall_ns)}`).join(", ");
  const shown = VALUES[measure];
  const value = row[shown];
  return (
    <li class="group-row" data-group-bar={length ?? undefined}>
      <span class="group-name">
        <Phase colors={colors} phase={row.phase} /> <small>{sizeOf(row)}</small>
      </span>
      <span class="group-track" role="img" aria-label={text}>
        {length === null ? null : (
          <span class="group-bar" style={{ width: `${(length / longest) * 100}%` }}>
            {parts.map((part) => (
              <span
                style={{ background: `var(${part.color})`, flexGrow: row[part.key] / row.wall_ns }}
                data-hint={TEMPLATES.partOfGroup(part.label, share(row[part.key] / row.wall_ns))}
              />
            ))}
          </span>
        )}
      </span>
      <span class="group-value" {...hint(TEMPLATES.withExactValue(columnOf(shown).about, exact("ns", value)))}>
        {value === null ? "–" : time(value)}
      </span>
    </li>
  );
}

interface GroupProps {
  row: ServingGroupRow;
  colors: Colors;
  measure: Measure;
  /** The length of the longest bar. */
  longest: number;
}

export function Groups({ serving, colors }: { serving: Serving; colors: Colors }) {
  const rows = groupsInOrder(serving, SHOWN);
  const hasTokens = rows.some((row) => row.time_per_token_ns !== null);
  const { token, ...others } = LABELS.measures;
  const measures = hasTokens ? { token, ...others } : others;
  const measure =
    (Object.keys(measures) as Measure[]).find((one) => one === param("bar")) ?? (hasTokens ? "token" : "iteration");
  const longest = Math.max(...rows.map((row) => lengthOf(row, measure) ?? 0)) || 1;
  const more = serving.groups.length - rows.length;
  return (
    <Panel
      title={LABELS.groups}
      about={LABELS.groupsHint}
      id="groups"
      actions={
        <Tabs
          label={LABELS.groups}
          of={measures as typeof LABELS.measures}
          value={measure}
          onChange={(next) => setParams({ bar: next })}
        />
      }
    >
      <ul class="group-rows">
        {rows.map((row, at) => (
          <Group key={at} row={row} colors={colors} measure={measure} longest={longest} />
        ))}
      </ul>
      {more > 0 ? <p class="quiet">{TEMPLATES.moreGroups(more)}</p> : null}
      <ul class="legend">
        {servingParts(rows).map((part) => (
          <li key={part.key} {...hint(columnOf(part.key).about)}>
            <span class="swatch" style={{ background: `var(${part.color})` }} /> {part.label}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
