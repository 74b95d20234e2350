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
import { isOfRank, NOTHING_JOINED, type Joined } from "../engine/joined";
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
  /** The address, if it was loaded from one. */
  address: string | undefined;
  /** The files that are joined to it. */
  joined: Joined;
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

/** Files that were given with a trace, and are not joined to it. */
export interface NotJoined {
  code: "captures" | "provenance" | "other_rank" | "several_traces" | "larger_than_memory";
  names: readonly string[];
  reason?: string;
}

/** The files that are not joined to the open trace. */
export const notJoined = signal<readonly NotJoined[]>([]);

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
  notJoined.value = [];
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
async function opened(trace: RemoteTrace, input: Input, joined = NOTHING_JOINED): Promise<OpenTrace> {
  const [info, diagnostics] = await Promise.all([trace.info(), trace.diagnostics()]);
  const from =
    input instanceof File ? { file: input, address: undefined } : { file: undefined, address: input.url || undefined };
  return { trace, name: nameOf(input), ...from, joined, info, diagnostics };
}

type Update = (changes: Partial<Loading>) => void;

/** Opens a trace; returns undefined if it is a file that does not fit into memory. */
async function openWhole(
  input: Input,
  joined: Joined,
  signal: AbortSignal,
  update: Update,
): Promise<OpenTrace | undefined> {
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
    const options = { signal: controller.signal, onProgress, memoryLimit, ...joined };
    const whole = await opened(await openTrace(input, options), input, joined);
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

/** Returns which of the joined files a failure is about, if it can be about them. */
function refusedOf({ captures, provenance }: Joined, thrown: unknown): "captures" | "provenance" | undefined {
  if (!(thrown instanceof KinetoscopeError) || thrown.code === "aborted") return undefined;
  const isOption = thrown.code === "bad_option";
  const isCapture = !isOption || captures.some(({ name }) => name === thrown.source);
  if (captures.length > 0 && (isCapture || provenance.length === 0)) return "captures";
  return isOption && provenance.length > 0 ? "provenance" : undefined;
}

/** Opens a trace with the files that fit. `report` gets those that do not. */
async function openJoined(
  joined: Joined,
  openWith: (joined: Joined) => Promise<OpenTrace | undefined>,
  report: (not: NotJoined) => void,
): Promise<OpenTrace | undefined> {
  const namesOf = (files: readonly File[]): string[] => files.map(({ name }) => name);
  for (let left = joined; ;) {
    try {
      const open = await openWith(left);
      const rank = open?.info.rank ?? null;
      const others = left.provenance.filter(({ name }) => !isOfRank(name, rank));
      if (!open || others.length === 0) return open;
      dispose(open);
      report({ code: "other_rank", names: namesOf(others) });
      left = { ...left, provenance: left.provenance.filter((file) => !others.includes(file)) };
    } catch (thrown) {
      const refused = refusedOf(left, thrown);
      if (!refused) throw thrown;
      report({ code: refused, names: namesOf(left[refused]), reason: (thrown as Error).message });
      left = { ...left, [refused]: [] };
    }
  }
}

async function one(
  input: Input,
  joined: Joined,
  at: number,
  signal: AbortSignal,
  report: (not: NotJoined) => void,
): Promise<OpenTrace | undefined> {
  const update: Update = (changes) => {
    if (signal.aborted) return;
    loading.value = loading.value.map((entry, position) => (position === at ? { ...entry, ...changes } : entry));
  };
  try {
    const whole = await openJoined(joined, (files) => openWhole(input, files, signal, update), report);
    if (whole) return whole;
    const names = [...joined.captures, ...joined.provenance].map(({ name }) => name);
    if (names.length > 0) report({ code: "larger_than_memory", names });
    return await openPart(input as File, signal, update);
  } catch (thrown) {
    const known = thrown instanceof KinetoscopeError ? thrown : undefined;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    update({ failure: { code: known?.code ?? "internal", message, byteOffset: known?.byteOffset } });
    return undefined;
  }
}

/**
 * Opens traces; they replace the open ones or are added to them. A trace of a run that is open is `part` of it. Files are joined to
 * one trace that replaces the open ones.
 */
export async function open(
  inputs: readonly Input[],
  how: "replace" | "add" | "part" = "replace",
  joined = NOTHING_JOINED,
): Promise<void> {
  if (how !== "add") closeAll();
  else cancel();
  const controller = new AbortController();
  reading = controller;
  const startedAt = performance.now();
  loading.value = inputs.map((input) => {
    const [name, totalBytes] = [nameOf(input), sizeOf(input)];
    return { name, totalBytes, startedAt, progress: undefined, part: undefined, failure: undefined };
  });
  const not: NotJoined[] = [];
  const report = (one: NotJoined): void => void not.push(one);
  const all = await Promise.all(inputs.map((input, at) => one(input, joined, at, controller.signal, report)));
  const found = all.filter((trace) => trace !== undefined);
  if (controller.signal.aborted) {
    for (const open of found) dispose(open);
    return;
  }
  loading.value = loading.value.filter((entry) => entry.failure);
  traces.value = [...traces.value, ...found];
  if (found.length > 0 && how === "replace") notJoined.value = not;
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

/** Clears the list of files that are not joined. */
export function dismissNotJoined(): void {
  notJoined.value = [];
}

/** Clears the list of failures. */
export function dismissFailures(): void {
  loading.value = [];
}
