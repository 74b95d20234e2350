// The answer of `serving` by kind of row, and the parts of an iteration.

import type { ServingGraphRow, ServingGroupRow, ServingIterationRow, ServingRow } from "kinetoscope/remote";
import { TEXTS } from "../strings";
import { ofKind } from "./kinds";

const LABELS = TEXTS.modelServing;

/** The answer, with its rows in the order of the engine. */
export interface Serving {
  total: ServingGroupRow;
  phases: ServingGroupRow[];
  groups: ServingGroupRow[];
  graphs: ServingGraphRow[];
  iterations: ServingIterationRow[];
}

/** Returns the rows of an answer by kind; `undefined` if there are no iterations. */
export function servingOf(rows: readonly ServingRow[]): Serving | undefined {
  const groups = rows.filter((row): row is ServingGroupRow => row.kind !== "graph" && row.kind !== "iteration");
  const total = groups.find((row) => row.kind === "total");
  if (!total) return undefined;
  return {
    total,
    phases: groups.filter((row) => row.kind === "phase"),
    groups: groups.filter((row) => row.kind === "batch"),
    graphs: ofKind(rows, "graph"),
    iterations: ofKind(rows, "iteration"),
  };
}

/** The parts of the wall time of iterations; they add up to it. */
export const SERVING_PARTS = [
  { key: "attention_ns", label: LABELS.attention, color: "--c-overlapped" },
  { key: "kv_cache_ns", label: LABELS.kvCache, color: "--c-data" },
  { key: "gemm_ns", label: LABELS.gemm, color: "--c-compute" },
  { key: "moe_gemm_ns", label: LABELS.moeGemm, color: "--phase-5" },
  { key: "moe_routing_ns", label: LABELS.moeRouting, color: "--phase-6" },
  { key: "moe_finalize_ns", label: LABELS.moeFinalize, color: "--c-moe-finalize" },
  { key: "sampling_ns", label: LABELS.sampling, color: "--c-host-late" },
  { key: "other_kernels_ns", label: LABELS.otherKernels, color: "--c-op" },
  { key: "communication_ns", label: LABELS.communication, color: "--c-communication" },
  { key: "moe_dispatch_ns", label: LABELS.moeDispatch, color: "--c-moe-dispatch" },
  { key: "copies_ns", label: LABELS.copies, color: "--c-memcpy" },
  { key: "queued_ns", label: LABELS.queued, color: "--c-queued" },
  { key: "launch_ns", label: LABELS.launch, color: "--c-runtime" },
  { key: "host_ns", label: LABELS.host, color: "--c-host-waiting" },
  { key: "between_ns", label: LABELS.between, color: "--c-other" },
] as const satisfies readonly {
  key: keyof ServingGroupRow & keyof ServingIterationRow;
  label: string;
  color: string;
}[];

export type ServingPart = (typeof SERVING_PARTS)[number];

/** Returns the parts that take time in at least one row. */
export function servingParts(rows: readonly (ServingGroupRow | ServingIterationRow)[]): ServingPart[] {
  return SERVING_PARTS.filter((part) => rows.some((row) => row[part.key] > 0));
}

/** The number of iterations that the values of a group are about: without warm-up, unless there are no others. */
export const steadyCount = ({ count, warm_up }: Pick<ServingGroupRow, "count" | "warm_up">): number =>
  warm_up < count ? count - warm_up : count;

/** Returns the iterations that the values of their group are about. */
export function steadyOf(iterations: readonly ServingIterationRow[]): ServingIterationRow[] {
  const steady = iterations.filter((row) => !row.is_warm_up);
  return steady.length > 0 ? steady : [...iterations];
}

/** What the names of iterations can state about their size. */
export type Size = "batch" | "tokens";

/** Returns the sizes that at least one iteration has. */
export function sizesOf(iterations: readonly ServingIterationRow[]): Size[] {
  return (["batch", "tokens"] as const).filter((size) => iterations.some((row) => row[size] !== null));
}

/** What the length of a bar of a group shows. */
export type Measure = "token" | "iteration" | "share";

/** Returns the length of the bar of a group; `null` if the answer does not have it. */
export function lengthOf(row: ServingGroupRow, measure: Measure): number | null {
  if (measure === "token") return row.time_per_token_ns;
  return measure === "iteration" ? row.p50_ns : 1;
}

/** Returns the first groups, which take longest, ordered by phase, requests and tokens. */
export function groupsInOrder(serving: Serving, most: number): ServingGroupRow[] {
  const phase = (row: ServingGroupRow): number => serving.phases.findIndex((one) => one.phase === row.phase);
  const tokens = (row: ServingGroupRow): number => (row.tokens ?? 0) / steadyCount(row);
  return serving.groups
    .slice(0, most)
    .sort((a, b) => phase(a) - phase(b) || (a.batch_mean ?? 0) - (b.batch_mean ?? 0) || tokens(a) - tokens(b));
}

/** Returns the number of bins of a histogram. */
export const binsFor = (many: number): number => Math.min(40, Math.max(8, Math.ceil(2 * Math.sqrt(many))));
