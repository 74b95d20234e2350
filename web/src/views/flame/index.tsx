// Call tree and flame graph: in time order, merged from the roots, or bottom up.

import { Await, Head, Missing } from "../../components/parts";
import { SearchBox } from "../../components/search-box";
import { save } from "../../components/download";
import { Save } from "../../components/save";
import { Tabs } from "../../components/tabs";
import { flames, type FlameLane, type FlameNode, type Metric } from "../../model/flame";
import { search } from "../../model/search";
import { ask, rowsOf } from "../../state/ask";
import { numberParam, param, setParams } from "../../state/route";
import type { OpenTrace } from "../../state/session";
import { PAGE_TEXTS, TEXTS } from "../../strings";
import { InTime } from "./in-time";
import { Merged } from "./merged";
import { Sampled } from "./sampled";

const LABELS = TEXTS.flame;
const SHARED = TEXTS.shared;

const ORDERS = {
  merged: { label: LABELS.merged, about: LABELS.mergedHint },
  "bottom-up": { label: LABELS.bottomUp, about: LABELS.bottomUpHint },
  time: { label: LABELS.timeOrder, about: LABELS.timeOrderHint },
  samples: { label: LABELS.samples, about: LABELS.samplesHint },
} as const;

type Order = keyof typeof ORDERS;

/** Nodes with less than this percentage of their track are omitted from the merged trees. */
const LEAST = 0.02;

const METRICS = {
  cpu: { label: LABELS.cpuTime, about: LABELS.cpuTimeHint },
  device: { label: LABELS.deviceTime, about: LABELS.deviceTimeHint },
} as const;

/** Returns the lane with the most spans or device work among those with a match of the search. */
function busiest(lanes: readonly FlameLane[], metric: Metric, text: string): number {
  const wanted = search(text);
  const has = (node: FlameNode): boolean => wanted.matches(node.name) || node.children.some(has);
  const candidates = text ? lanes.filter((lane) => lane.root.children.some(has)) : lanes;
  const weight = ({ root }: FlameLane): number => (metric === "device" ? root.deviceTotal : root.count);
  const best = (candidates.length > 0 ? candidates : lanes).reduce((most, lane) =>
    weight(lane) > weight(most) ? lane : most,
  );
  return lanes.indexOf(best);
}

function LaneChooser({ names, at }: { names: readonly string[]; at: number }) {
  return (
    <label class="select">
      {PAGE_TEXTS.track}{" "}
      <select
        value={at}
        data-track-chooser
        onChange={(event) =>
          setParams({ lane: event.currentTarget.value, path: undefined, start: undefined, end: undefined })
        }
      >
        {names.map((name, position) => (
          <option key={position} value={position}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function FlameView({ open }: { open: OpenTrace }) {
  const order: Order = (Object.keys(ORDERS) as Order[]).find((one) => one === param("order")) ?? "merged";
  const metric: Metric = param("metric") === "device" ? "device" : "cpu";
  const options = { depth: -1, minShare: LEAST, ...(order === "bottom-up" ? { bottomUp: true, depth: 64 } : {}) };
  const tabs = (
    <Tabs
      label={LABELS.order}
      of={ORDERS}
      value={order}
      onChange={(next) => setParams({ order: next, path: undefined, start: undefined, end: undefined })}
    />
  );
  const toolbar = (chooser: preact.ComponentChildren) => (
    <div class="toolbar">
      {tabs}
      {order === "time" ? null : (
        <Tabs label={SHARED.time} of={METRICS} value={metric} onChange={(next) => setParams({ metric: next })} />
      )}
      {chooser}
      <SearchBox name="q" label={SHARED.search} />
      <span class="spring" />
      <button
        type="button"
        data-hint={LABELS.foldedHint}
        onClick={async () =>
          save(
            `${open.name}.folded`,
            "text/plain",
            await new Response(open.trace.export("folded", { lanes: true })).blob(),
          )
        }
      >
        Folded
      </button>
      <Save trace={open.trace} query="tree" options={options} />
    </div>
  );
  const timedView = () => (
    <Await answer={rowsOf(open.trace, "tracks")}>
      {(all) => {
        const tracks = all.filter((track) => track.spans > 0).sort((a, b) => b.spans - a.spans);
        const at = numberParam("lane") ?? 0;
        const track = tracks[at] ?? tracks[0];
        if (!track) return <Missing of="flame" />;
        return (
          <>
            {toolbar(<LaneChooser names={tracks.map((one) => `${one.process} · ${one.thread}`)} at={at} />)}
            <InTime trace={open.trace} track={track} />
          </>
        );
      }}
    </Await>
  );
  return (
    <>
      <Head view="flame" />
      {order === "samples" ? (
        <Sampled trace={open.trace} tabs={tabs} />
      ) : order === "time" ? (
        timedView()
      ) : (
        <Await
          answer={ask(open.trace, `flames ${JSON.stringify(options)}`, async (trace) =>
            flames(await trace.columns("tree", options)),
          )}
        >
          {(lanes) => {
            if (lanes.length === 0) return <Missing of="flame" />;
            const at = numberParam("lane") ?? busiest(lanes, metric, param("q") ?? "");
            const lane = (lanes[at] ?? lanes[0]) as FlameLane;
            return (
              <>
                {toolbar(<LaneChooser names={lanes.map((one) => one.name)} at={at} />)}
                <Merged key={`${lane.name} ${order}`} lane={lane} metric={metric} />
              </>
            );
          }}
        </Await>
      )}
    </>
  );
}
