// The visible time range of a timeline: it moves at once or animated, and is kept in the address.

import { computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import { clamped, type Viewport } from "../../model/timeline/viewport";
import { isLive } from "../../state/live";
import { numberParam, setParams } from "../../state/route";
import { reducedMotion } from "../../state/theme";

/** The duration of an animated movement in ms. */
const MOVEMENT = 140;

/** How long the range does not change before it is saved, in ms. */
const SETTLED = 250;

/** The range of the address, rounded to ns; undefined if there is none. */
const ofAddress = computed((): Viewport | undefined => {
  const [start, end] = [numberParam("start"), numberParam("end")];
  return start !== undefined && end !== undefined && end > start ? { start, end } : undefined;
});

const isSame = (a: Viewport, b: Viewport): boolean =>
  Math.round(a.start) === Math.round(b.start) && Math.round(a.end) === Math.round(b.end);

export class Camera {
  readonly view = signal<Viewport>({ start: 0, end: 1 });
  private movement = 0;
  private saving = 0;
  private readonly end: () => void;

  /** `everything` is the range that is shown if the address has none. */
  constructor(private readonly everything: ReadonlySignal<Viewport>) {
    this.end = effect(() => {
      const wanted = ofAddress.value ?? this.whole;
      if (!isSame(wanted, this.view.peek())) this.view.value = clamped(wanted, this.whole);
    });
  }

  get whole(): Viewport {
    return this.everything.value;
  }

  /** Shows another time range, at once or animated. */
  show(view: Viewport, how: "at once" | "animated" = "at once"): void {
    cancelAnimationFrame(this.movement);
    const to = clamped(view, this.whole);
    if (how === "at once" || reducedMotion()) this.view.value = to;
    else this.move(this.view.peek(), to, performance.now());
    this.save(to);
  }

  private move(from: Viewport, to: Viewport, begun: number): void {
    const share = Math.min(1, (performance.now() - begun) / MOVEMENT);
    const eased = 1 - (1 - share) ** 3;
    this.view.value = {
      start: from.start + (to.start - from.start) * eased,
      end: from.end + (to.end - from.end) * eased,
    };
    if (share < 1) this.movement = requestAnimationFrame(() => this.move(from, to, begun));
  }

  /** Saves the view in the address after it has stopped to change. */
  private save(view: Viewport): void {
    clearTimeout(this.saving);
    const range = isSame(view, clamped(this.whole, this.whole)) ? undefined : view;
    const now = (): void => setParams({ start: range && Math.round(range.start), end: range && Math.round(range.end) });
    // A part of a recording that is followed is shown from now on, not the next version of the whole.
    if (isLive.peek()) now();
    else this.saving = window.setTimeout(now, SETTLED);
  }

  dispose(): void {
    cancelAnimationFrame(this.movement);
    clearTimeout(this.saving);
    this.end();
  }
}
