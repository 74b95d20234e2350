// More than two runs: the change of the wall time from each to each.

import { Await, Panel } from "../../components/parts";
import { changesOf, totalsOf } from "../../model/compare";
import { comparisonOf } from "../../state/comparison";
import { numberParam, setParams } from "../../state/route";
import { traces } from "../../state/session";
import { TEMPLATES, TEXTS } from "../../strings";
import { signedTime } from "./change";

const LABELS = TEXTS.compare;

/** The number of runs up to which all pairs are compared. */
const MOST = 8;

function Cell({ a, b }: { a: number; b: number }) {
  const [from, to] = [traces.value[a], traces.value[b]];
  if (!from || !to || a === b) return <td class="quiet">–</td>;
  const isShown = (numberParam("a") ?? 0) === a && (numberParam("b") ?? 1) === b;
  return (
    <td data-pair={`${a} ${b}`}>
      <Await answer={comparisonOf(from.trace, to.trace)}>
        {(rows) => {
          const [wall] = totalsOf(rows);
          const changes = changesOf(rows).filter((row) => row.significant === true).length;
          return (
            <button type="button" aria-pressed={isShown} onClick={() => setParams({ a: String(a), b: String(b) })}>
              {wall ? signedTime(wall.contribution_ns) : "0"} · {TEMPLATES.changes(changes)}
            </button>
          );
        }}
      </Await>
    </td>
  );
}

export function Matrix() {
  const runs = traces.value.slice(0, MOST);
  return (
    <Panel title={LABELS.matrix} about={LABELS.matrixHint} id="matrix">
      <table class="plain">
        <thead>
          <tr>
            <th>A ↓ B →</th>
            {runs.map(({ name }, at) => (
              <th key={at}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map(({ name }, a) => (
            <tr key={a}>
              <th>{name}</th>
              {runs.map((_, b) => (
                <Cell key={b} a={a} b={b} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
