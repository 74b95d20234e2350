// Breaks down the window of a device.

import type { DeviceTime, WorkClass } from "kinetoscope/remote";
import { HINTS, IDLE_CAUSES, TEMPLATES, TEXTS } from "../strings";
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

/** Returns the idle time by cause. */
export function idleParts(device: DeviceTime): TimePart[] {
  const { host_late_ns, host_waiting_ns, queued_ns, unknown_ns, not_recorded_ns } = device.idle_causes;
  const part = (label: string, value: number, color: string, about: string): TimePart => ({
    label,
    value,
    color,
    about,
    text: time(value),
  });
  return [
    part(IDLE_CAUSES.host_late, host_late_ns, "c-host-late", HINTS.hostLate),
    part(IDLE_CAUSES.host_waiting, host_waiting_ns, "c-host-waiting", HINTS.hostWaiting),
    part(IDLE_CAUSES.queued, queued_ns, "c-queued", HINTS.queued),
    part(IDLE_CAUSES.unknown, unknown_ns, "c-unknown", HINTS.unknown),
    part(IDLE_CAUSES.not_recorded, not_recorded_ns, "c-unknown", HINTS.notRecorded),
  ];
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
