// Times by cause or part, each of which opens to what stood behind it.

import type { Behind } from "kinetoscope/remote";
import { To } from "../../components/parts";
import { count, exact, share, time } from "../../model/format";
import { shortName } from "../../model/short-name";
import { TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.findings;

export interface Group {
  key: string;
  label: string;
  about?: string;
  color: string;
  time_ns: number;
  share: number;
  behind: readonly Behind[];
}

function Names({ group }: { group: Group }) {
  return (
    <ol class="behind">
      {group.behind.map((one) => (
        <li key={one.name + one.kind}>
          <span class="cost">{time(one.time_ns)}</span>
          <To view="timeline" with={{ event: one.event }} hint={TEMPLATES.longestOf(one.name)}>
            {shortName(one.name)}
          </To>
          <span class="quiet">{one.kind}</span>
        </li>
      ))}
    </ol>
  );
}

export function Groups({ groups }: { groups: readonly Group[] }) {
  const largest = Math.max(1, ...groups.map((group) => group.time_ns));
  return (
    <ul class="groups">
      {groups.map((group) => (
        <li key={group.key} data-group={group.key} data-exact={exact("ns", group.time_ns)}>
          <details>
            <summary title={group.about}>
              <span>{group.label}</span>
              <span class="group-bar">
                <span class={group.color} style={{ width: `${(group.time_ns / largest) * 100}%` }} />
              </span>
              <span class="cost">{time(group.time_ns)}</span>
              <span class="cost">{share(group.share)}</span>
            </summary>
            {group.behind.length > 0 ? <Names group={group} /> : <p class="quiet">{LABELS.nothingBehind}</p>}
          </details>
        </li>
      ))}
    </ul>
  );
}

/** The number of periods of a part, for its hint. */
export function periods(many: number): string {
  return TEMPLATES.periods(count(many));
}
