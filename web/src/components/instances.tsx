// The instances of a row: a histogram of their durations, and the longest ones with links to the timeline.

import { useMemo } from "preact/hooks";
import type { ReadonlySignal } from "@preact/signals";
import type { Spans } from "kinetoscope/remote";
import { count, time } from "../model/format";
import { histogram, type Histogram } from "../model/histogram";
import type { Answer } from "../state/ask";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../strings";
import { hint } from "./hints";
import { Await, To } from "./parts";

const LABELS = TEXTS.instances;
const SHARED = TEXTS.shared;

const SHOWN = 100;

function Bars({ data }: { data: Histogram }) {
  const greatest = Math.max(...data.counts, 1);
  const { counts, edges } = data;
  const text = `${PAGE_TEXTS.min} ${time(data.min)}, ${PAGE_TEXTS.median} ${time(data.median)}, p95 ${time(data.p95)}, ${PAGE_TEXTS.max} ${time(data.max)}`;
  return (
    <figure class="histogram">
      <svg
        viewBox={`0 0 ${counts.length * 10} 84`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${PAGE_TEXTS.durations}: ${text}`}
      >
        {counts.map((many, at) => (
          <rect
            key={at}
            x={at * 10 + 0.5}
            width={9}
            y={80 - (many > 0 ? Math.max(2, (many / greatest) * 78) : 0)}
            height={many > 0 ? Math.max(2, (many / greatest) * 78) : 0}
            data-hint={TEMPLATES.histogramBin(count(many), time(edges[at] ?? 0), time(edges[at + 1] ?? 0))}
          />
        ))}
      </svg>
      <figcaption>{text}</figcaption>
    </figure>
  );
}

function List({ spans, tracks }: { spans: Spans; tracks: (track: number) => string }) {
  const longest = useMemo(() => {
    const order = Array.from({ length: spans.length }, (_, at) => at);
    const duration = (at: number): number => (spans.end_ns[at] ?? 0) - (spans.start_ns[at] ?? 0);
    return order.sort((a, b) => duration(b) - duration(a) || a - b).slice(0, SHOWN);
  }, [spans]);
  return (
    <table class="instances">
      <thead>
        <tr>
          <th scope="col" class="number" {...hint(LABELS.durationHint)}>
            {PAGE_TEXTS.duration}
          </th>
          <th scope="col" class="number" {...hint(SHARED.startHint)}>
            {PAGE_TEXTS.start}
          </th>
          <th scope="col" {...hint(LABELS.trackHint)}>
            {PAGE_TEXTS.track}
          </th>
        </tr>
      </thead>
      <tbody>
        {longest.map((at) => (
          <tr key={spans.event[at]}>
            <td class="number">{time((spans.end_ns[at] ?? 0) - (spans.start_ns[at] ?? 0))}</td>
            <td class="number">
              <To view="timeline" with={{ event: spans.event[at] }}>
                {time(spans.start_ns[at] ?? 0)}
              </To>
            </td>
            <td>{tracks(spans.track[at] ?? 0)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Instances({
  answer,
  tracks,
}: {
  answer: ReadonlySignal<Answer<Spans>>;
  tracks: (track: number) => string;
}) {
  return (
    <Await answer={answer}>
      {(spans) => {
        const durations = Float64Array.from(
          { length: spans.length },
          (_, at) => (spans.end_ns[at] ?? 0) - (spans.start_ns[at] ?? 0),
        );
        return (
          <div class="instances-detail" data-instances={spans.length}>
            <div>
              <h3>
                {PAGE_TEXTS.durations}{" "}
                <small>
                  {count(spans.length)} {PAGE_TEXTS.instances}
                </small>
              </h3>
              <Bars data={histogram(durations)} />
            </div>
            <div class="instances-list">
              <h3>
                {PAGE_TEXTS.longest}{" "}
                {spans.length > SHOWN ? (
                  <small>
                    {SHOWN} {PAGE_TEXTS.of} {count(spans.length)}
                  </small>
                ) : null}
              </h3>
              <List spans={spans} tracks={tracks} />
            </div>
          </div>
        );
      }}
    </Await>
  );
}
