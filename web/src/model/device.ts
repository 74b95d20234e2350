// Breaks down the window of a device.

import type { Cause, DeviceTime, PathPart, WorkClass } from "kinetoscope/remote";
import { IDLE_CAUSES } from "kinetoscope/columns";
import { HINTS, TEMPLATES, TEXTS } from "../strings";
import { time } from "./format";

const LABELS = TEXTS.modelDevice;

export interface TimePart {
  label: string;
  value: number;
  color: string;
  about: string;
  text: string;
}

const CLASS_COLORS: Record<WorkClass, string> = {
  compute: "c-compute",
  communication: "c-communication",
  memcpy: "c-memcpy",
  memset: "c-memset",
};

export const CAUSE_COLORS: Record<Cause, string> = {
  data_loading: "c-data",
  host_to_device_copy: "c-memcpy",
  synchronization: "c-host-waiting",
  allocation: "c-memset",
  compilation: "c-host-late",
  cold_start: "c-host-late",
  graph_capture: "c-runtime",
  garbage_collection: "c-host-late",
  lock: "c-host-late",
  launch: "c-runtime",
  operator: "c-op",
  optimizer: "c-host-late",
  autograd: "c-host-late",
  user_code: "c-host-late",
  other_stream: "c-queued",
  queued: "c-queued",
  profiler_overhead: "c-unknown",
  not_recorded: "c-unknown",
  unknown: "c-unknown",
};

/** The colours of parts of the critical path: those of the same class of work or cause; others have none. */
export const PART_COLORS: Partial<Record<PathPart, string>> = { ...CAUSE_COLORS, ...CLASS_COLORS };

/** Returns the idle time by cause. */
export function idleParts(device: DeviceTime): TimePart[] {
  return device.idle_causes.map(({ cause, time_ns }) => ({
    label: IDLE_CAUSES[cause].label,
    value: time_ns,
    color: CAUSE_COLORS[cause],
    about: IDLE_CAUSES[cause].about,
    text: time(time_ns),
  }));
}

/**
 * Breaks down the window of a device: the time in which only one class of work was running, by class; the time in which
 * several were running; and the idle time by cause. The parts add up to the window.
 */
export function windowParts(device: DeviceTime): TimePart[] {
  const alone = device.classes.map((one) => ({
    label: one.class,
    value: one.exposed_ns,
    color: CLASS_COLORS[one.class],
    about: HINTS.exposed,
    text: time(one.exposed_ns),
  }));
  const overlapped = device.busy_ns - alone.reduce((sum, part) => sum + part.value, 0);
  const several = {
    label: LABELS.overlapped,
    value: overlapped,
    color: "c-overlapped",
    about: LABELS.overlappedHint,
    text: time(overlapped),
  };
  return [
    ...alone,
    several,
    ...idleParts(device).map((part) => ({ ...part, label: TEMPLATES.idleBecause(part.label) })),
  ];
}
