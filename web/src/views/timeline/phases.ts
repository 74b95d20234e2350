// The phases of the spans of a timeline, which are loaded when the colours show them.

import { computed, effect, signal } from "@preact/signals";
import type { RemoteTrace, TracksRow } from "kinetoscope/remote";
import { servingOf, type Serving } from "../../model/serving";
import { phasesInTime, type PhasesInTime } from "../../model/timeline/phases";
import { rowsOf, valueOf } from "../../state/ask";
import { paramSignal } from "../../state/route";

export class Phases {
  /** Whether colours show phases. */
  readonly isShown = computed(() => paramSignal("color").value === "phase");
  /** The phases, once they are loaded; `none` if the trace has no iterations. */
  readonly loaded = signal<PhasesInTime | "none" | undefined>(undefined);
  /** What is drawn. */
  readonly drawn = computed(() => {
    const loaded = this.loaded.value;
    return this.isShown.value && loaded !== "none" ? loaded : undefined;
  });
  readonly dispose: () => void;

  constructor(
    private readonly trace: RemoteTrace,
    private readonly tracks: readonly TracksRow[],
  ) {
    this.dispose = effect(() => {
      const rows = this.isShown.value ? valueOf(rowsOf(trace, "serving").value) : undefined;
      if (rows && this.loaded.peek() === undefined) void this.load(servingOf(rows));
    });
  }

  private async load(serving: Serving | undefined): Promise<void> {
    if (!serving) {
      this.loaded.value = "none";
      return;
    }
    const names = [...new Set(serving.iterations.map((row) => row.name))];
    const spans = await this.trace.find(names).catch(() => undefined);
    if (spans) this.loaded.value = phasesInTime(serving, spans, this.tracks);
  }
}
