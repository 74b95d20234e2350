// Where the selected activity of a device comes from.

import type { ChromeEvent, RemoteTrace } from "kinetoscope/remote";
import { Await, To } from "../../components/parts";
import { SourceText } from "../../components/source";
import { count } from "../../model/format";
import { ORIGIN_COLUMNS, originOf, type Origin as Known } from "../../model/origin";
import { ask, rowsOf } from "../../state/ask";
import { SHOWN_BY, SOURCES, TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.timelineDetails;

/** The number of activities up to which the origins of all are computed, when the first one is selected. */
const MOST = 200_000;

const isDeviceWork = ({ cat }: ChromeEvent): boolean =>
  typeof cat === "string" && ["kernel", "gpu_memcpy", "gpu_memset"].includes(cat);

function List({ operator, operatorBy, source, sourceBy, annotation }: Known) {
  if (operator === null && source === null && annotation === null) return null;
  return (
    <dl class="origin">
      {operator === null ? null : (
        <div data-origin="operator">
          <dt>{LABELS.operator}</dt>
          <dd>
            <To view="operators" with={{ q: operator }}>
              {operator}
            </To>{" "}
            {operatorBy === null ? null : <span class="quiet">{SHOWN_BY[operatorBy]}</span>}
          </dd>
        </div>
      )}
      {source === null ? null : (
        <div data-origin="source">
          <dt>{LABELS.source}</dt>
          <dd>
            <SourceText source={source} by={sourceBy} />{" "}
            {sourceBy === null ? null : <span class="quiet">{SOURCES[sourceBy]}</span>}
          </dd>
        </div>
      )}
      {annotation === null ? null : (
        <div data-origin="annotation">
          <dt>{LABELS.annotation}</dt>
          <dd>{annotation}</dd>
        </div>
      )}
    </dl>
  );
}

export function Origin({ trace, id, event }: { trace: RemoteTrace; id: number; event: ChromeEvent }) {
  if (!isDeviceWork(event)) return null;
  return (
    <Await answer={rowsOf(trace, "summary")}>
      {([summary]) => {
        const activities = (summary?.devices ?? []).reduce((sum, device) => sum + device.activities, 0);
        if (activities > MOST) return <p class="quiet">{TEMPLATES.tooManyOrigins(count(MOST))}</p>;
        const all = ask(trace, "origins", (from) => from.buffers("kernels", { columns: ORIGIN_COLUMNS }));
        return (
          <Await answer={all}>
            {(buffers) => {
              const origin = originOf(buffers, id);
              return origin ? <List {...origin} /> : null;
            }}
          </Await>
        );
      }}
    </Await>
  );
}
