// The run of several ranks that is open: from files of which only the summaries are kept, or from the open traces.

import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { RanksRow, RemoteRun, RunProgress, SourceNote } from "kinetoscope/remote";
import { mergeTraces, openRun } from "../engine/open";
import { FACTS } from "../model/run";
import { TEMPLATES } from "../strings";
import { ask, type Answer } from "./ask";
import { go } from "./route";
import { closeAll, open, relation, traces, type OpenTrace } from "./session";

/** A run whose traces are not kept open. */
interface FileRun {
  run: RemoteRun;
  /** The files of the traces, by name. */
  files: ReadonlyMap<string, File>;
}

/** The run whose traces are not kept open. */
export const fileRun = signal<FileRun | undefined>(undefined);

/** The state of reading a run. */
export const runProgress = signal<RunProgress | undefined>(undefined);

/** Why a run could not be read, or its traces not be merged. */
export const runFailure = signal("");

/** Files that were left out before reading. */
export const leftOut = signal<readonly SourceNote[]>([]);

let reading: AbortController | undefined;

/** Ends what is read, and closes the run. */
export function closeRun(): void {
  reading?.abort();
  reading = undefined;
  runProgress.value = undefined;
  runFailure.value = "";
  leftOut.value = [];
  fileRun.value?.run.dispose();
  fileRun.value = undefined;
}

/** Begins to read something that `cancelRun` ends. */
export function beginReading(total: number): AbortSignal {
  reading?.abort();
  reading = new AbortController();
  runProgress.value = { done: 0, total, bytes: 0, events: 0 };
  return reading.signal;
}

export function endReading(signal: AbortSignal): void {
  if (reading?.signal === signal) runProgress.value = undefined;
}

/** Cancels reading or merging. */
export function cancelRun(): void {
  reading?.abort();
  runProgress.value = undefined;
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Opens a run: reads each trace, keeps its summary, and closes it. */
export async function openFileRun(files: readonly File[], notes: readonly SourceNote[]): Promise<void> {
  closeAll();
  const signal = beginReading(files.length);
  try {
    const onProgress = (progress: RunProgress): void => {
      if (!signal.aborted) runProgress.value = progress;
    };
    const run = await openRun(files, { signal, notes, onProgress });
    if (signal.aborted) return run.dispose();
    fileRun.value = { run, files: new Map(files.map((file) => [file.name, file])) };
    go("ranks");
  } catch (thrown) {
    if (!signal.aborted) runFailure.value = messageOf(thrown);
  } finally {
    endReading(signal);
  }
}

const ofTraces = new WeakMap<readonly OpenTrace[], ReadonlySignal<Answer<RemoteRun>>>();

/** Returns the run of traces that are open. */
function runOf(open: readonly OpenTrace[]): ReadonlySignal<Answer<RemoteRun>> {
  const known = ofTraces.get(open);
  if (known) return known;
  const answer = signal<Answer<RemoteRun>>({ state: "waiting" });
  ofTraces.set(open, answer);
  const summaries = Promise.all(open.map(({ trace, name }) => trace.rankSummary({ name, complete: true })));
  summaries
    .then((files) => openRun(files, { notes: leftOut.peek() }))
    .then(
      (value) => (answer.value = { state: "ready", value }),
      (thrown: unknown) => (answer.value = { state: "failed", reason: messageOf(thrown) }),
    );
  return answer;
}

/** The run that is open; undefined if there is none. */
export const currentRun = computed((): ReadonlySignal<Answer<RemoteRun>> | undefined => {
  const own = fileRun.value;
  if (own) return signal<Answer<RemoteRun>>({ state: "ready", value: own.run });
  return relation.value === "ranks" ? runOf(traces.value) : undefined;
});

/** Returns what is known about a run, without the rows whose number grows with the steps and the collectives. */
export function factsOf(run: RemoteRun): ReadonlySignal<Answer<RanksRow[]>> {
  return ask(run, "facts", (from) => from.ranks({ kinds: FACTS }));
}

/** Where the trace of a rank is: its position among the open traces, or its file. */
export function placeOf(trace: string): number | File | undefined {
  const own = fileRun.value;
  if (own) return own.files.get(trace);
  const at = traces.value.findIndex((one) => one.name === trace);
  return at < 0 ? undefined : at;
}

/** Shows the trace of a rank in the other views. */
export async function showRank(trace: string): Promise<void> {
  const place = placeOf(trace);
  if (place === undefined) return;
  if (typeof place === "number") return go("overview", { trace: place === 0 ? undefined : place });
  if (traces.value[0]?.file !== place) await open([place], "part");
  if (traces.value.length > 0) go("overview", { trace: undefined });
}

/** The files of some ranks, by the names of their traces. */
export function filesOf(names: readonly string[]): File[] {
  const places = names.map((name) => {
    const place = placeOf(name);
    return typeof place === "number" ? traces.value[place]?.file : place;
  });
  return places.filter((file) => file !== undefined);
}

/** Merges the traces of some ranks and shows them in the timeline. */
export async function showMerged(names: readonly string[], title: string): Promise<void> {
  const files = filesOf(names);
  runFailure.value = "";
  const signal = beginReading(0);
  try {
    const merged = await mergeTraces(files, signal);
    if (signal.aborted) return;
    endReading(signal);
    const file = new File([merged], TEMPLATES.mergedName(title));
    if (fileRun.value) {
      await open([file], "part");
      if (traces.value.length > 0) go("timeline", { trace: undefined });
      return;
    }
    const known = relation.value;
    await open([file], "add");
    relation.value = known;
    go("timeline", { trace: traces.value.length - 1 });
  } catch (thrown) {
    if (!signal.aborted) runFailure.value = messageOf(thrown);
  } finally {
    endReading(signal);
  }
}
