// What changes would save: sliders and switches, and the wall time of a replay with them.

import { useEffect, useMemo, useState } from "preact/hooks";
import { IDLE_CAUSES } from "kinetoscope/columns";
import type { Cause, DeviceTime, SummaryRow, WhatIfOptions, WorkClass } from "kinetoscope/remote";
import { Await, Panel } from "../../components/parts";
import { exact, share, time } from "../../model/format";
import { ask } from "../../state/ask";
import type { OpenTrace } from "../../state/session";
import { TEMPLATES, TEXTS } from "../../strings";

const LABELS = TEXTS.whatIf;

/** The time in ms after the last change of a slider until the replay starts. */
const PAUSE = 150;

/** The causes that no change of the program removes. */
const FIXED: readonly Cause[] = [
  "queued",
  "other_stream",
  "graph_capture",
  "not_recorded",
  "unknown",
  "profiler_overhead",
];

interface Chosen {
  faster: Partial<Record<WorkClass, number>>;
  free: readonly string[];
  overlapCommunication: boolean;
  cudaGraph: boolean;
}

const NOTHING: Chosen = { faster: {}, free: [], overlapCommunication: false, cudaGraph: false };

/** Returns the options of `what-if`; `undefined` if nothing is changed. */
function optionsOf({ faster, free, overlapCommunication, cudaGraph }: Chosen): WhatIfOptions | undefined {
  const factors = Object.entries(faster).filter(([, factor]) => factor !== 1);
  if (factors.length + free.length === 0 && !overlapCommunication && !cudaGraph) return undefined;
  return {
    ...(factors.length > 0 ? { faster: factors.map(([name, factor]) => `${name}=${factor}`).join(",") } : {}),
    ...(free.length > 0 ? { free: [...free] } : {}),
    overlapCommunication,
    cudaGraph,
  };
}

const allOf = <Key extends string>(devices: readonly DeviceTime[], of: (device: DeviceTime) => Key[]): Key[] => [
  ...new Set(devices.flatMap(of)),
];

function Result({ open, chosen }: { open: OpenTrace; chosen: Chosen }) {
  const options = optionsOf(chosen);
  const key = JSON.stringify(options);
  const answer = useMemo(
    () => (options ? ask(open.trace, `what-if ${key}`, (trace) => trace.rows("what-if", options)) : undefined),
    [open, key],
  );
  if (!answer) return <p class="quiet">{LABELS.nothing}</p>;
  return (
    <Await answer={answer}>
      {(rows) => {
        // The last row is about all changes together.
        const row = rows.at(-1);
        if (!row) return null;
        return (
          <p class="what-if-result" role="status" data-saving={row.saving_ns} data-error={row.error}>
            {row.saving_ns === null || row.saving_share === null || row.wall_ns === null ? (
              <b>{LABELS.cannotTell}</b>
            ) : (
              <>
                <b data-exact={exact("ns", row.saving_ns)}>{time(row.saving_ns)}</b>{" "}
                {TEMPLATES.saved(share(row.saving_share), time(row.wall_ns), time(row.replayed_ns))}
              </>
            )}{" "}
            {TEMPLATES.savingBounds(time(row.saving_low_ns), time(row.saving_high_ns))}{" "}
            <span class="quiet">{TEMPLATES.replayError(share(row.error))}</span>
          </p>
        );
      }}
    </Await>
  );
}

function Slider(props: { name: WorkClass; factor: number; set: (factor: number) => void }) {
  return (
    <label class="slider">
      <span>{props.name}</span>
      <input
        type="range"
        min="1"
        max="10"
        step="0.5"
        value={props.factor}
        aria-label={TEMPLATES.fasterLabel(props.name)}
        onInput={(event) => props.set(Number(event.currentTarget.value))}
      />
      <output>{TEMPLATES.timesFaster(props.factor)}</output>
    </label>
  );
}

function Switch(props: { name: string; label: string; about?: string; on: boolean; set: (on: boolean) => void }) {
  return (
    <label class="switch" title={props.about} data-switch={props.name}>
      <input type="checkbox" checked={props.on} onChange={(event) => props.set(event.currentTarget.checked)} />
      {props.label}
    </label>
  );
}

export function WhatIf({ open, summary }: { open: OpenTrace; summary: SummaryRow }) {
  const [chosen, choose] = useState(NOTHING);
  const [replayed, replay] = useState(NOTHING);
  useEffect(() => {
    const timer = setTimeout(() => replay(chosen), PAUSE);
    return () => clearTimeout(timer);
  }, [chosen]);
  const classes = allOf(summary.devices, (device) => device.classes.map((one) => one.class));
  const causes = allOf(summary.devices, (device) => device.idle_causes.map((one) => one.cause));
  if (classes.length === 0) return null;
  const change = (to: Partial<Chosen>): void => choose({ ...chosen, ...to });
  const toggle = (cause: string, on: boolean): void =>
    change({ free: on ? [...chosen.free, cause] : chosen.free.filter((one) => one !== cause) });
  return (
    <Panel title={LABELS.title} about={LABELS.hint} id="what-if">
      <div class="what-if">
        <fieldset>
          <legend>{LABELS.faster}</legend>
          {classes.map((name) => (
            <Slider
              key={name}
              name={name}
              factor={chosen.faster[name] ?? 1}
              set={(factor) => change({ faster: { ...chosen.faster, [name]: factor } })}
            />
          ))}
        </fieldset>
        <fieldset>
          <legend>{LABELS.free}</legend>
          {causes
            .filter((cause) => !FIXED.includes(cause))
            .map((cause) => (
              <Switch
                key={cause}
                name={cause}
                {...IDLE_CAUSES[cause]}
                on={chosen.free.includes(cause)}
                set={(on) => toggle(cause, on)}
              />
            ))}
        </fieldset>
        <fieldset>
          <legend>{LABELS.other}</legend>
          {classes.includes("communication") ? (
            <Switch
              name="overlap"
              label={LABELS.overlap}
              about={LABELS.overlapHint}
              on={chosen.overlapCommunication}
              set={(on) => change({ overlapCommunication: on })}
            />
          ) : null}
          <Switch
            name="graph"
            label={LABELS.graph}
            about={LABELS.graphHint}
            on={chosen.cudaGraph}
            set={(on) => change({ cudaGraph: on })}
          />
        </fieldset>
      </div>
      <Result open={open} chosen={replayed} />
    </Panel>
  );
}
