// Call tree and flame graph: in order of time, merged from the roots, or from the bottom up.

import { useMemo, useState } from "preact/hooks";
import type { RemoteTrace, Tiles, TracksRow } from "kinetoscope/remote";
import { FlameCanvas } from "../components/flame-canvas";
import { Await, Head, Missing, To } from "../components/parts";
import { save } from "../components/download";
import { Table, type TableColumn } from "../components/table";
import { count, share, time } from "../model/format";
import { boxes, flames, metricOf, nodeAt, pathOf, type FlameLane, type FlameNode, type Metric } from "../model/flame";
import { search } from "../model/search";
import { ask, rowsOf } from "../state/ask";
import { go, numberParam, param, setParams } from "../state/route";
import type { OpenTrace } from "../state/session";
import { T } from "../strings";

const ORDERS = {
  merged: { label: "Merged", about: "All calls of the same path as one, the longest at the left" },
  "bottom-up": { label: "Bottom up", about: "Each name with its self time, and below it who called it" },
  time: { label: "In time", about: "Every call where it happened" },
} as const;

type Order = keyof typeof ORDERS;

/** What is less than this percentage of its lane is left out of the merged trees. */
const LEAST = 0.02;

const SEPARATOR = "\u001f";

function Tabs<Key extends string>(props: { label: string; of: Record<Key, { label: string; about: string }>; value: Key; onChange: (key: Key) => void }) {
  return (
    <div class="tabs" role="tablist" aria-label={props.label}>
      {(Object.keys(props.of) as Key[]).map((key) => (
        <button key={key} type="button" role="tab" aria-selected={key === props.value} data-hint={props.of[key].about} data-tab={key} onClick={() => props.onChange(key)}>
          {props.of[key].label}
        </button>
      ))}
    </div>
  );
}

const METRICS = {
  cpu: { label: "CPU time", about: "How long the spans were open" },
  device: { label: "Device time", about: "The device work that was launched in them" },
} as const;

type Row = FlameNode & { key: string };

/** The nodes of a tree that are open, depth first. */
function listed(root: FlameNode, opened: ReadonlySet<string>, metric: Metric): Row[] {
  const rows: Row[] = [];
  const add = (node: FlameNode, path: string): void => {
    const key = `${path}${SEPARATOR}${node.name}`;
    rows.push({ ...node, key });
    if (opened.has(key)) for (const child of ordered(node)) add(child, key);
  };
  const ordered = (node: FlameNode): FlameNode[] =>
    node.children.filter((child) => metricOf(child, metric) > 0).sort((a, b) => metricOf(b, metric) - metricOf(a, metric));
  for (const child of ordered(root)) add(child, "");
  return rows;
}

/** From how much of the time on a call is opened at once: there is nothing else to look at. */
const DOMINANT = 0.9;

/** The path of calls that have almost all of the time. */
function dominant(root: FlameNode, metric: Metric): Set<string> {
  const opened = new Set<string>();
  const whole = metricOf(root, metric);
  let key = "";
  for (let node: FlameNode | undefined = root; node; ) {
    const next: FlameNode | undefined = node.children.find((child) => metricOf(child, metric) >= whole * DOMINANT);
    if (next) opened.add((key = `${key}${SEPARATOR}${next.name}`));
    node = next;
  }
  return opened;
}

function TreeTable({ focus, metric, whole }: { focus: FlameNode; metric: Metric; whole: number }) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => dominant(focus, metric));
  const rows = useMemo(() => listed(focus, opened, metric), [focus, opened, metric]);
  const toggle = (key: string): void => {
    const next = new Set(opened);
    if (!next.delete(key)) next.add(key);
    setOpened(next);
  };
  const columns: TableColumn<Row>[] = [
    {
      key: "name",
      title: "Call",
      kind: "text",
      about: "The spans' name; open it to see what is below.",
      width: "minmax(260px, 3fr)",
      show: (row) => (
        <span class="tree-name" style={{ paddingLeft: `${(row.depth - focus.depth - 1) * 14}px` }}>
          {row.children.length > 0 ? (
            <button type="button" class="twist" aria-label={`${opened.has(row.key) ? "Close" : "Open"} ${row.name}`} aria-expanded={opened.has(row.key)} onClick={() => toggle(row.key)}>
              {opened.has(row.key) ? "▾" : "▸"}
            </button>
          ) : (
            <span class="twist" />
          )}
          {row.name}
        </span>
      ),
    },
    { key: "total", title: "Total", kind: "ns", about: "Sum of their durations.", bar: true },
    { key: "self", title: "Self", kind: "ns", about: "The same without the spans inside." },
    { key: "deviceTotal", title: "Device", kind: "ns", about: "The device work that they and what is inside them launched.", bar: true },
    { key: "share", title: "Share", kind: "share", about: "The part of the lane.", value: (row) => (whole > 0 ? metricOf(row, metric) / whole : 0), width: "80px" },
    { key: "count", title: "Calls", kind: "int", about: "How many calls were merged.", width: "80px" },
  ];
  return <Table label="Call tree" columns={columns} rows={rows} keyOf={(row) => row.key} onSort={() => undefined} fit={14} />;
}

function Merged({ lane, metric }: { lane: FlameLane; metric: Metric }) {
  const path = param("path");
  const focus = useMemo(() => nodeAt(lane.root, path ? path.split(SEPARATOR) : []), [lane, path]);
  const drawn = useMemo(() => boxes(focus, metric).map((box) => ({ ...box, name: box.node.name, faded: box.depth < focus.depth })), [focus, metric]);
  const text = param("q") ?? "";
  const matches = useMemo(() => (text ? search(text).matches : undefined), [text]);
  const whole = metricOf(lane.root, metric);
  const zoom = (node: FlameNode): void => setParams({ path: pathOf(node).join(SEPARATOR) }, "step");
  if (whole === 0) return <p class="empty">{metric === "device" ? "No device work was launched on this lane." : T.nothing}</p>;
  return (
    <>
      <FlameCanvas
        label={`Flame graph of ${lane.name}; the same calls are in the table below`}
        boxes={drawn}
        matches={matches}
        onClick={(box) => zoom(box?.node ?? lane.root)}
        idle="Click a box to zoom to it, the one at the top to zoom out."
        tip={({ node }) => (
          <>
            <b>{node.name}</b> {time(metricOf(node, metric))}, {share(metricOf(node, metric) / whole)} · self {time(metric === "cpu" ? node.self : node.deviceSelf)} · {count(node.count)} calls
          </>
        )}
      />
      <TreeTable key={`${path} ${metric}`} focus={focus} metric={metric} whole={whole} />
    </>
  );
}

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
    const [begins, ends] = [tiles.start[at] as number, tiles.end[at] as number];
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

function InTime({ trace, track }: { trace: RemoteTrace; track: TracksRow }) {
  const [start, end] = [numberParam("start") ?? track.start_ns ?? 0, numberParam("end") ?? track.end_ns ?? 1];
  const text = param("q") ?? "";
  const matches = useMemo(() => (text ? search(text).matches : undefined), [text]);
  const isZoomed = param("start") !== undefined;
  return (
    <Await answer={ask(trace, `flame ${track.track} ${start} ${end}`, (from) => from.tiles({ track: track.track, start, end: Math.max(end, start + 1), pixels: 2000 }))}>
      {(tiles) => (
        <>
          <div class="toolbar">
            <span class="quiet">
              {time(end - start)} from {time(start)}
            </span>
            <button type="button" disabled={!isZoomed} onClick={() => setParams({ start: undefined, end: undefined }, "step")}>
              Whole lane
            </button>
            <button type="button" onClick={() => go("timeline", { start, end })}>
              {T.inTimeline}
            </button>
          </div>
          <FlameCanvas
            label={`Calls of ${track.process} · ${track.thread} in the order of time`}
            boxes={timed(tiles, start, end)}
            matches={matches}
            onClick={(box) => box && setParams({ start: box.start, end: Math.max(box.end, box.start + 1) }, "step")}
            idle="Click a box to zoom to it."
            tip={(box) => (
              <>
                <b>{box.name}</b> {time(box.end - box.start)} at {time(box.start)} · <To view="timeline" with={{ event: box.event }}>{T.inTimeline}</To>
              </>
            )}
          />
        </>
      )}
    </Await>
  );
}

/** The lane with the most spans or device work, of those that have what is searched for. */
function busiest(lanes: readonly FlameLane[], metric: Metric, text: string): number {
  const wanted = search(text);
  const has = (node: FlameNode): boolean => wanted.matches(node.name) || node.children.some(has);
  const candidates = text ? lanes.filter((lane) => lane.root.children.some(has)) : lanes;
  const weight = ({ root }: FlameLane): number => (metric === "device" ? root.deviceTotal : root.count);
  const best = (candidates.length > 0 ? candidates : lanes).reduce((most, lane) => (weight(lane) > weight(most) ? lane : most));
  return lanes.indexOf(best);
}

function LaneChooser({ names, at }: { names: readonly string[]; at: number }) {
  return (
    <label class="select">
      Lane{" "}
      <select value={at} data-lane-chooser onChange={(event) => setParams({ lane: event.currentTarget.value, path: undefined, start: undefined, end: undefined })}>
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
  const toolbar = (chooser: preact.ComponentChildren) => (
    <div class="toolbar">
      <Tabs label="Order" of={ORDERS} value={order} onChange={(next) => setParams({ order: next, path: undefined })} />
      {order === "time" ? null : <Tabs label="Time" of={METRICS} value={metric} onChange={(next) => setParams({ metric: next })} />}
      {chooser}
      <input type="search" class="filter" aria-label="Search" placeholder="Search" data-hint={T.filterHint} value={param("q") ?? ""} onInput={(event) => setParams({ q: event.currentTarget.value })} />
      <span class="spring" />
      <button type="button" data-hint="All paths as folded stacks, for other flame graph tools" onClick={async () => save(`${open.name}.folded`, "text/plain", await new Response(open.trace.export("folded", { lanes: true })).blob())}>
        Folded
      </button>
      <button type="button" data-hint={T.csvHint} onClick={async () => save(`${open.name}.tree.csv`, "text/csv", await open.trace.csv("tree", options))}>
        {T.csv}
      </button>
      <button type="button" data-hint={T.jsonHint} onClick={async () => save(`${open.name}.tree.json`, "application/json", await open.trace.json("tree", options))}>
        {T.json}
      </button>
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
      {order === "time" ? (
        timedView()
      ) : (
        <Await answer={ask(open.trace, `flames ${JSON.stringify(options)}`, async (trace) => flames(await trace.columns("tree", options)))}>
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
