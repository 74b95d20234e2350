// The calls of one track in time order.

import { useMemo } from "preact/hooks";
import type { RemoteTrace, Tiles, TracksRow } from "kinetoscope/remote";
import { FlameCanvas } from "../../components/flame-canvas";
import { Await, To } from "../../components/parts";
import { time } from "../../model/format";
import { search } from "../../model/search";
import { ask } from "../../state/ask";
import { go, numberParam, param, setParams } from "../../state/route";
import { PAGE_TEXTS, TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.flameInTime;

interface TimedBox {
  name: string;
  from: number;
  to: number;
  depth: number;
  event: number;
  start: number;
  end: number;
}

function timed(tiles: Tiles, start: number, end: number): TimedBox[] {
  return Array.from({ length: tiles.length }, (_, at) => {
    const [begins, ends] = [tiles.start_ns[at] as number, tiles.end_ns[at] as number];
    return {
      name: tiles.names[tiles.name[at] as number] as string,
      from: Math.max(0, (begins - start) / (end - start)),
      to: Math.min(1, (ends - start) / (end - start)),
      depth: tiles.depth[at] as number,
      event: tiles.event[at] as number,
      start: begins,
      end: ends,
    };
  });
}

export function InTime({ trace, track }: { trace: RemoteTrace; track: TracksRow }) {
  const [start, end] = [numberParam("start") ?? track.start_ns ?? 0, numberParam("end") ?? track.end_ns ?? 1];
  const text = param("q") ?? "";
  const matches = useMemo(() => (text ? search(text).matches : undefined), [text]);
  const isZoomed = param("start") !== undefined;
  return (
    <Await
      answer={ask(trace, `flame ${track.track} ${start} ${end}`, (from) =>
        from.tiles({ track: track.track, startNs: start, endNs: Math.max(end, start + 1), pixels: 2000 }),
      )}
    >
      {(tiles) => (
        <>
          <div class="toolbar">
            <span class="quiet">{TEMPLATES.durationFrom(time(end - start), time(start))}</span>
            <button
              type="button"
              disabled={!isZoomed}
              onClick={() => setParams({ start: undefined, end: undefined }, "step")}
            >
              {LABELS.resetZoom}
            </button>
            <button type="button" onClick={() => go("timeline", { start, end })}>
              {PAGE_TEXTS.inTimeline}
            </button>
          </div>
          <FlameCanvas
            label={TEMPLATES.callsOnTrack(`${track.process} · ${track.thread}`)}
            boxes={timed(tiles, start, end)}
            matches={matches}
            onClick={(box) => box && setParams({ start: box.start, end: Math.max(box.end, box.start + 1) }, "step")}
            idle={LABELS.zoomHint}
            tip={(box) => (
              <>
                <b>{box.name}</b> {TEMPLATES.whatAt(time(box.end - box.start), time(box.start))} ·{" "}
                <To view="timeline" with={{ event: box.event }}>
                  {PAGE_TEXTS.inTimeline}
                </To>
              </>
            )}
          />
        </>
      )}
    </Await>
  );
}
