// The traces that are open or being read.

import { computed, signal } from "@preact/signals";
import {
  KinetoscopeError,
  type Diagnostic,
  type InfoRow,
  type OutlineRow,
  type PreviewSummary,
  type ReadCounts,
  type RemoteTrace,
} from "kinetoscope/remote";
import { openTrace, type Input } from "../engine/open";
import { isTooLarge } from "../model/outline";
import { relationOf, type Relation } from "../model/ranks";
import type { Viewport } from "../model/timeline/viewport";
import { endReadingWindow, memoryLimit, openLarge, readWindow, type Large } from "./large";
import { go, numberParam, setParams, view } from "./route";

export interface OpenTrace {
  trace: RemoteTrace;
  name: string;
  /** The file, if the trace was read from one. */
  file: File | undefined;
  info: InfoRow;
  diagnostics: Diagnostic[];
  /** Of a trace that is larger than memory: `trace` is a window of it. */
  large?: Large;
}

/** A file that is being read or could not be read. */
export interface Loading {
  name: string;
  totalBytes: number | undefined;
  startedAt: number;
  progress: (ReadCounts & { preview?: PreviewSummary; totals?: OutlineRow[] }) | undefined;
  /** What is read of a trace that is larger than memory. */
  part: "totals" | "window" | undefined;
  failure: { code: string; message: string; byteOffset: number | undefined } | undefined;
}

export const traces = signal<readonly OpenTrace[]>([]);
export const loading = signal<readonly Loading[]>([]);

/** How the open traces are related, detected or chosen by the user. */
export const relation = signal<Relation>("one");

/** The trace that the views show. */
export const current = computed<OpenTrace | undefined>(
  () => traces.value[numberParam("trace") ?? 0] ?? traces.value[0],
);

let reading: AbortController | undefined;

/** The trace that was shown before the present one: views may still ask it. */
let former: RemoteTrace | undefined;

/** Cancels reading. */
export function cancel(): void {
  reading?.abort();
  loading.value = [];
}

/** Closes every trace. */
export function closeAll(): void {
  cancel();
  endReadingWindow();
  for (const open of traces.value) dispose(open);
  former?.dispose();
  former = undefined;
  traces.value = [];
  relation.value = "one";
}

function dispose({ trace, large }: OpenTrace): void {
  trace.dispose();
  large?.outline.dispose();
}

function nameOf(input: Input): string {
  if (input instanceof File) return input.name;
  return decodeURIComponent(new URL(input.url).pathname.split("/").pop() || input.url);
}

function sizeOf(input: Input): number | undefined {
  if (input instanceof File) return input.size;
  const length = Number(input.headers.get("content-length"));
  return length > 0 ? length : undefined;
}

/** What is known about a trace that was read. */
async function opened(trace: RemoteTrace, input: Input): Promise<OpenTrace> {
  const [info, diagnostics] = await Promise.all([trace.info(), trace.diagnostics()]);
  return { trace, name: nameOf(input), file: input instanceof File ? input : undefined, info, diagnostics };
}

type Update = (changes: Partial<Loading>) => void;

/** Opens a trace; returns undefined if it is a file that does not fit into memory. */
async function openWhole(input: Input, signal: AbortSignal, update: Update): Promise<OpenTrace | undefined> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  signal.addEventListener("abort", abort, { once: true });
  let isLarge = false;
  const onProgress = (progress: ReadCounts): void => {
    update({ progress });
    if (!(input instanceof File) || !isTooLarge(progress, memoryLimit)) return;
    isLarge = true;
    abort();
  };
  try {
    const whole = await opened(await openTrace(input, { signal: controller.signal, onProgress, memoryLimit }), input);
    if (!(input instanceof File) || !whole.diagnostics.some((one) => one.code === "memory_limit")) return whole;
    whole.trace.dispose();
    return undefined;
  } catch (thrown) {
    if (isLarge && !signal.aborted) return undefined;
    throw thrown;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Opens a file that does not fit into memory. Without an outline, as of other formats, it is read up to the limit. */
async function openPart(file: File, signal: AbortSignal, update: Update): Promise<OpenTrace> {
  try {
    const { trace, large, diagnostics } = await openLarge(file, signal, (part, progress) => update({ part, progress }));
    return { ...(await opened(trace, file)), diagnostics, large };
  } catch (thrown) {
    if (!(thrown instanceof KinetoscopeError && thrown.code === "unfit")) throw thrown;
    const onProgress = (progress: ReadCounts): void => update({ part: undefined, progress });
    return opened(await openTrace(file, { signal, onProgress, memoryLimit }), file);
  }
}

async function one(input: Input, at: number, signal: AbortSignal): Promise<OpenTrace | undefined> {
  const update: Update = (changes) => {
    if (signal.aborted) return;
    loading.value = loading.value.map((entry, position) => (position === at ? { ...entry, ...changes } : entry));
  };
  try {
    return (await openWhole(input, signal, update)) ?? (await openPart(input as File, signal, update));
  } catch (thrown) {
    const known = thrown instanceof KinetoscopeError ? thrown : undefined;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    update({ failure: { code: known?.code ?? "internal", message, byteOffset: known?.byteOffset } });
    return undefined;
  }
}

/** Opens traces; they replace the open ones or are added to them. A trace of a run that is open is `part` of it. */
export async function open(inputs: readonly Input[], how: "replace" | "add" | "part" = "replace"): Promise<void> {
  if (how !== "add") closeAll();
  else cancel();
  const controller = new AbortController();
  reading = controller;
  const startedAt = performance.now();
  loading.value = inputs.map((input) => {
    const [name, totalBytes] = [nameOf(input), sizeOf(input)];
    return { name, totalBytes, startedAt, progress: undefined, part: undefined, failure: undefined };
  });
  const all = await Promise.all(inputs.map((input, at) => one(input, at, controller.signal)));
  const found = all.filter((trace) => trace !== undefined);
  if (controller.signal.aborted) {
    for (const open of found) dispose(open);
    return;
  }
  loading.value = loading.value.filter((entry) => entry.failure);
  traces.value = [...traces.value, ...found];
  if (how === "part") return;
  relation.value = relationOf(
    traces.value.map(({ name, info }) => ({ name, rank: info.rank, worldSize: info.world_size })),
  );
  // The comparison is the most useful view of two runs.
  if (relation.value === "runs" && view.value === "overview") go("compare");
}

/** Shows another version of an open trace. The views keep what they show until they have their answers. */
function replace(shown: OpenTrace | undefined, next: OpenTrace): void {
  former?.dispose();
  former = shown?.trace;
  const others = traces.value;
  traces.value = shown ? others.map((one) => (one === shown ? next : one)) : [next, ...others.slice(1)];
}

/** Shows a newer version of the first open trace, unless `isHeld` when it is read. Returns whether it is shown. */
export async function refresh(input: Input, name: string, isHeld: () => boolean): Promise<boolean> {
  const next = await opened(await openTrace(input, {}), input);
  if (isHeld()) {
    next.trace.dispose();
    return false;
  }
  replace(traces.value[0], { ...next, name });
  return true;
}

/** Shows another window of a trace that is larger than memory. */
export async function showWindow(open: OpenTrace, window: Viewport): Promise<void> {
  const { large } = open;
  const trace = large && (await readWindow(large, window));
  if (!trace) return;
  const info = await trace.info();
  if (!traces.value.includes(open)) return trace.dispose();
  // They are about events and tracks of the former window.
  setParams({ event: undefined, area: undefined, open: undefined });
  replace(open, { ...open, trace, info, large: { ...large, window } });
}

/** Shows another of the open traces. */
export function choose(at: number): void {
  setParams({ trace: at === 0 ? undefined : at }, "step");
}

/** Clears the list of failures. */
export function dismissFailures(): void {
  loading.value = [];
}
