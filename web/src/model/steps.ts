// The breakdown of steps, and outliers.

import type { StepsRow } from "kinetoscope/remote";
import { quantile } from "./histogram";
import { TEXTS } from "../strings";

const LABELS = TEXTS.modelSteps;

/** The parts of a step; they add up to its wall time. */
export const STEP_PARTS = [
  { key: "kernel_ns", label: LABELS.kernels, color: "--c-compute" },
  { key: "communication_ns", label: LABELS.communication, color: "--c-communication" },
  { key: "memcpy_ns", label: LABELS.memcpys, color: "--c-memcpy" },
  { key: "memset_ns", label: LABELS.memsets, color: "--c-memset" },
  { key: "runtime_ns", label: LABELS.runtimeCalls, color: "--c-runtime" },
  { key: "data_loader_ns", label: LABELS.dataLoading, color: "--c-data" },
  { key: "cpu_op_ns", label: LABELS.operators, color: "--c-op" },
  { key: "other_ns", label: LABELS.other, color: "--c-other" },
] as const satisfies readonly { key: keyof StepsRow; label: string; color: string }[];

/** Returns the distance of each wall time from the median, in median absolute deviations times 1.4826. */
export function deviations(steps: readonly StepsRow[]): number[] {
  const walls = Float64Array.from(steps, (step) => step.wall_ns);
  const median = quantile(walls.slice().sort(), 0.5);
  const mad = quantile(walls.map((wall) => Math.abs(wall - median)).sort(), 0.5) * 1.4826;
  return steps.map((step) => (mad > 0 ? (step.wall_ns - median) / mad : 0));
}

/** The number of deviations from which a step counts as an outlier (3.5 by Iglewicz and Hoaglin). */
export const OUTLIER = 3.5;
