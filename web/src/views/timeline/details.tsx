// The details of the selected event: times, arguments and related events.

import type { ChromeEvent, Related } from "kinetoscope/remote";
import { Await, To, ToSamples } from "../../components/parts";
import { copy } from "../../components/download";
import { exact, time } from "../../model/format";
import { ask } from "../../state/ask";
import { trackNames } from "../../state/tracks";
import { PAGE_TEXTS, RELATIONS, TEXTS } from "../../strings";
import type { Timeline } from "./controller";
import { selectNeighbour } from "./neighbours";
import { Origin } from "./origin";

const LABELS = TEXTS.timelineDetails;
const SHARED = TEXTS.shared;

/** The largest number of related events that are listed for each relation. */
const LISTED = 50;

function Links({ timeline, related }: { timeline: Timeline; related: Related }) {
  return (
    <>
      {(Object.keys(RELATIONS) as (keyof typeof RELATIONS)[]).map((relation) => {
        const found = related.relation.flatMap((one, at) => (one === relation ? [at] : []));
        if (found.length === 0) return null;
        const sum = found.reduce(
          (all, at) => all + (related.end_ns[at] as number) - (related.start_ns[at] as number),
          0,
        );
        return (
          <div key={relation} class="links" data-relation={relation}>
            <h3>
              {RELATIONS[relation]}{" "}
              {relation === "device_work" ? (
                <small>
                  {found.length}, {time(sum)}
                </small>
              ) : null}
            </h3>
            <ul>
              {found.slice(0, LISTED).map((at) => (
                <li key={`${relation} ${at}`}>
                  <button type="button" class="link" onClick={() => timeline.select(related.event[at])}>
                    {related.names[related.name[at] as number]}
                  </button>{" "}
                  <span class="quiet">{time((related.end_ns[at] as number) - (related.start_ns[at] as number))}</span>
                </li>
              ))}
              {found.length > LISTED ? <li class="quiet">… {found.length - LISTED}</li> : null}
            </ul>
          </div>
        );
      })}
    </>
  );
}

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function Arguments({ event }: { event: ChromeEvent }) {
  const { args, ...rest } = event;
  const own = Object.entries(rest).filter(([key]) => !["name", "ph", "ts", "dur"].includes(key));
  const all = [...own, ...Object.entries((args as Record<string, unknown> | undefined) ?? {})];
  return (
    <dl class="arguments">
      {all.map(([key, value]) => (
        <div key={key} data-argument={key}>
          <dt>{key}</dt>
          <dd>{text(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The thread of the selected event. */
function threadOf(timeline: Timeline, related: Related): string | undefined {
  return timeline.tracks.find((track) => track.track === related.track[0])?.tid;
}

export function Details({ timeline }: { timeline: Timeline }) {
  const related = timeline.related.value;
  if (!related || related.length === 0) return null;
  const name = related.names[related.name[0] as number] ?? "";
  const [start, end] = [related.start_ns[0] as number, related.end_ns[0] as number];
  const id = related.event[0] as number;
  return (
    <section class="panel details" aria-label={LABELS.selectedEvent} data-event={id}>
      <div class="panel-head">
        <h2 class="event-name">{name}</h2>
        <button type="button" data-hint={SHARED.zoomToSelection} onClick={() => timeline.fit()}>
          Zoom
        </button>
        <button
          type="button"
          data-hint={LABELS.previousHint}
          aria-label={LABELS.previous}
          onClick={() => void selectNeighbour(timeline, -1)}
        >
          ‹
        </button>
        <button
          type="button"
          data-hint={LABELS.nextHint}
          aria-label={LABELS.next}
          onClick={() => void selectNeighbour(timeline, 1)}
        >
          ›
        </button>
        <button
          type="button"
          aria-label={PAGE_TEXTS.close}
          data-hint={SHARED.closeHint}
          onClick={() => timeline.select(undefined)}
        >
          ×
        </button>
      </div>
      <p class="event-times">
        <b data-duration={end - start} data-hint={exact("ns", end - start)}>
          {time(end - start)}
        </b>{" "}
        from <span data-hint={exact("ns", start)}>{time(start)}</span> ·{" "}
        {trackNames(timeline.trace)(related.track[0] as number)}
      </p>
      <p>
        <To view="operators" with={{ q: name }}>
          {PAGE_TEXTS.inOperators}
        </To>{" "}
        ·{" "}
        <To view="kernels" with={{ q: name }}>
          {LABELS.inKernels}
        </To>{" "}
        ·{" "}
        <To view="flame" with={{ q: name }}>
          {PAGE_TEXTS.inCallTree}
        </To>
        <ToSamples trace={timeline.trace} start={start} end={end} thread={threadOf(timeline, related)} />
      </p>
      <div class="details-body">
        <div>
          <Await answer={ask(timeline.trace, `event ${id}`, (trace) => trace.event(id))}>
            {(event) => (
              <>
                <Origin trace={timeline.trace} id={id} event={event} />
                <Arguments event={event} />
                <button type="button" onClick={() => void copy(JSON.stringify(event, undefined, 2))}>
                  {PAGE_TEXTS.copy} JSON
                </button>
              </>
            )}
          </Await>
        </div>
        <div>
          <Links timeline={timeline} related={related} />
        </div>
      </div>
    </section>
  );
}
