// The traces that are open or being read.

import { computed, signal } from "@preact/signals";
import { KinetoscopeError, type Diagnostic, type InfoRow, type Progress, type RemoteTrace } from "kinetoscope/remote";
import { openTrace, type Input } from "../engine/open";
import { relationOf, type Relation } from "../model/ranks";
import { go, numberParam, setParams, view } from "./route";

export interface OpenTrace {
  trace: RemoteTrace;
  name: string;
  /** The file, if the trace was read from one. */
  file: File | undefined;
  info: InfoRow;
  diagnostics: Diagnostic[];
}

/** A file that is being read or could not be read. */
export interface Loading {
  name: string;
  totalBytes: number | undefined;
  startedAt: number;
  progress: Progress | undefined;
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

/** Cancels reading. */
export function cancel(): void {
  reading?.abort();
  loading.value = [];
}

/** Closes every trace. */
export function closeAll(): void {
  cancel();
  for (const { trace } of traces.value) trace.dispose();
  traces.value = [];
  relation.value = "one";
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

async function one(input: Input, at: number, signal: AbortSignal): Promise<OpenTrace | undefined> {
  const update = (changes: Partial<Loading>): void => {
    if (signal.aborted) return;
    loading.value = loading.value.map((entry, position) => (position === at ? { ...entry, ...changes } : entry));
  };
  try {
    const trace = await openTrace(input, { signal, onProgress: (progress) => update({ progress }) });
    const [info, diagnostics] = await Promise.all([trace.info(), trace.diagnostics()]);
    return { trace, name: nameOf(input), file: input instanceof File ? input : undefined, info, diagnostics };
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
    return { name: nameOf(input), totalBytes: sizeOf(input), startedAt, progress: undefined, failure: undefined };
  });
  const opened = await Promise.all(inputs.map((input, at) => one(input, at, controller.signal)));
  const found = opened.filter((trace) => trace !== undefined);
  if (controller.signal.aborted) {
    for (const { trace } of found) trace.dispose();
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

/** The trace that was shown before the present one: views may still ask it. */
let former: RemoteTrace | undefined;

/**
 * Shows a newer version of the first open trace, unless `isHeld` when it is read. Returns whether it is shown. The views keep
 * what they show until they have their answers.
 */
export async function refresh(input: Input, name: string, isHeld: () => boolean): Promise<boolean> {
  const trace = await openTrace(input, {});
  const [info, diagnostics] = await Promise.all([trace.info(), trace.diagnostics()]);
  if (isHeld()) {
    trace.dispose();
    return false;
  }
  const [shown, ...others] = traces.value;
  former?.dispose();
  former = shown?.trace;
  traces.value = [{ trace, name, file: undefined, info, diagnostics }, ...others];
  return true;
}

/** Shows another of the open traces. */
export function choose(at: number): void {
  setParams({ trace: at === 0 ? undefined : at }, "step");
}

/** Clears the list of failures. */
export function dismissFailures(): void {
  loading.value = [];
}
