// Reads the visible events of a trace that is larger than memory.

import { effect, signal, type ReadonlySignal } from "@preact/signals";
import { covers, mostEvents, windowFor } from "../../model/outline";
import type { Viewport } from "../../model/timeline/viewport";
import { endReadingWindow, memoryLimit, type Large } from "../../state/large";
import { showWindow, type OpenTrace } from "../../state/session";

/** How long the visible range does not change before its events are read, in ms. The range is saved before that. */
const SETTLED = 400;

export class WindowFollower {
  /** The number of visible events, if they are too many to be read. */
  readonly tooMany = signal<number | undefined>(undefined);
  readonly failure = signal("");
  private readonly end: () => void;
  private settling = 0;
  private isDisposed = false;

  constructor(
    private readonly open: OpenTrace,
    private readonly large: Large,
    view: ReadonlySignal<Viewport>,
  ) {
    this.end = effect(() => {
      const visible = view.value;
      clearTimeout(this.settling);
      this.settling = window.setTimeout(() => void this.follow(visible), SETTLED);
    });
  }

  private async follow(view: Viewport): Promise<void> {
    const { outline, window, whole } = this.large;
    this.tooMany.value = undefined;
    this.failure.value = "";
    // It was begun for what was visible before.
    endReadingWindow();
    if (covers(window, view, whole)) return;
    try {
      const next = await windowFor(view, mostEvents(memoryLimit), (start, end) => outline.eventsWithin(start, end));
      if (this.isDisposed) return;
      if (typeof next === "number") this.tooMany.value = next;
      else await showWindow(this.open, next);
    } catch (thrown) {
      this.failure.value = thrown instanceof Error ? thrown.message : String(thrown);
    }
  }

  dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.settling);
    this.end();
  }
}
