// The history of a program that is open. It is independent of the open traces.

import { signal, type ReadonlySignal } from "@preact/signals";
import type { TrendResult } from "kinetoscope/remote";
import { readTrend } from "../engine/open";
import { ask, type Answer } from "./ask";
import { go, view } from "./route";

/** The file of the history. */
export const history = signal<File | undefined>(undefined);

/** Returns the trend of a history. */
export const trendOf = (file: File): ReadonlySignal<Answer<TrendResult>> => ask(file, "trend", readTrend);

/** Opens a history and shows its view. */
export function openHistory(file: File): void {
  history.value = file;
  if (view.value !== "trend") go("trend");
}
