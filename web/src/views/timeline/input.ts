// Mouse, touch and wheel input of a timeline.

import type { Signal } from "@preact/signals";
import { RULER, type Area } from "../../drawing/scene";
import { moved, zoomed, type Viewport } from "../../model/timeline/viewport";
import type { Hovered, Surface } from "./surface";

/** What input acts on. */
export interface Target {
  readonly surface: Surface;
  /** The visible time range. */
  view(): Viewport;
  show(view: Viewport, how?: "animated"): void;
  onClick(box: Hovered | undefined): void;
  onDoubleClick?(): void;
  /** The area that a drag selects. Without it, a drag moves the timeline. */
  area?: Signal<Area | undefined>;
  selectArea?(area: Area): void;
}

/** The distance in pixels from which a movement is a drag. */
const DRAG = 4;

type Mode = "pan" | "box" | "zoom" | "pinch";

interface Gesture {
  mode: Mode;
  x: number;
  y: number;
  scroll: number;
  view: Viewport;
  moved: boolean;
}

interface Point {
  x: number;
  y: number;
}

/** Handles the pointers of one timeline. */
class Pointers {
  private readonly down = new Map<number, Point>();
  private gesture: Gesture | undefined;
  private pinched = 0;

  constructor(
    private readonly element: HTMLElement,
    private readonly canvas: HTMLCanvasElement,
    private readonly target: Target,
  ) {}

  placeOf(event: MouseEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  zoomAt(factor: number, x: number): void {
    const { target } = this;
    target.show(zoomed(target.view(), factor, target.surface.timeAt(x)));
  }

  private spread(): number {
    const [a, b] = [...this.down.values()];
    return a && b ? Math.abs(a.x - b.x) + Math.abs(a.y - b.y) : 0;
  }

  private modeOf(event: PointerEvent, y: number): Mode {
    const isPan = event.pointerType === "touch" || event.shiftKey || event.button === 1 || !this.target.area;
    return isPan ? "pan" : y < RULER ? "zoom" : "box";
  }

  press(event: PointerEvent): void {
    if (!this.canvas.contains(event.target as Node) || event.button > 1) return;
    const { x, y } = this.placeOf(event);
    this.down.set(event.pointerId, { x, y });
    this.canvas.setPointerCapture(event.pointerId);
    this.element.focus({ preventScroll: true });
    const begin = { x, y, scroll: this.target.surface.scroll.peek(), view: this.target.view() };
    const isPinch = this.down.size === 2;
    if (isPinch) this.pinched = this.spread();
    this.gesture = { ...begin, mode: isPinch ? "pinch" : this.modeOf(event, y), moved: isPinch };
  }

  move(event: PointerEvent): void {
    const { gesture } = this;
    const { surface } = this.target;
    const { x, y } = this.placeOf(event);
    if (this.down.has(event.pointerId)) this.down.set(event.pointerId, { x, y });
    surface.pointed.value = x < 0 ? undefined : surface.timeAt(x);
    if (!gesture) {
      surface.hovered.value = this.canvas.contains(event.target as Node) ? surface.boxUnder(x, y) : undefined;
      return;
    }
    gesture.moved ||= Math.hypot(x - gesture.x, y - gesture.y) > DRAG;
    if (!gesture.moved) return;
    surface.hovered.value = undefined;
    if (gesture.mode === "pinch") this.pinch();
    else if (gesture.mode === "pan") this.pan(gesture, x, y);
    else this.drag(gesture, x, y);
  }

  private pinch(): void {
    const now = this.spread();
    const middle = [...this.down.values()].reduce((sum, pointer) => sum + pointer.x / this.down.size, 0);
    if (now > 0 && this.pinched > 0) this.zoomAt(this.pinched / now, middle);
    this.pinched = now;
  }

  private pan(begun: Gesture, x: number, y: number): void {
    const { surface } = this.target;
    this.target.show(moved(begun.view, (begun.x - x) / surface.size.peek().width));
    surface.scrollTo(begun.scroll + begun.y - y);
  }

  private drag(begun: Gesture, x: number, y: number): void {
    const { surface, area } = this.target;
    const [start, end] = [surface.timeAt(Math.min(x, begun.x)), surface.timeAt(Math.max(x, begun.x))];
    const inLayout = (at: number): number => at - surface.header + surface.scroll.peek();
    const [top, bottom] =
      begun.mode === "box"
        ? [inLayout(Math.min(y, begun.y)), inLayout(Math.max(y, begun.y))]
        : [inLayout(0), inLayout(surface.size.peek().height)];
    if (area) area.value = { start, end, top, bottom };
  }

  release(event: PointerEvent): void {
    const { gesture, target } = this;
    this.down.delete(event.pointerId);
    if (this.down.size > 0) return;
    this.gesture = undefined;
    if (!gesture) return;
    const area = target.area?.peek();
    if (!gesture.moved) {
      const { x, y } = this.placeOf(event);
      target.onClick(target.surface.boxUnder(x, y));
    } else if (area && gesture.mode === "box") target.selectArea?.(area);
    else if (area && target.area && gesture.mode === "zoom") {
      target.area.value = undefined;
      target.show({ start: area.start, end: area.end }, "animated");
    }
  }

  cancel(event: PointerEvent): void {
    this.down.delete(event.pointerId);
    this.gesture = undefined;
    if (this.target.area) this.target.area.value = undefined;
  }

  wheel(event: WheelEvent): void {
    const { target } = this;
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoomAt(Math.exp(Math.max(-50, Math.min(50, event.deltaY)) * 0.008), this.placeOf(event).x);
    } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      event.preventDefault();
      target.show(moved(target.view(), sideways / target.surface.size.peek().width));
    }
  }
}

/** Handles the input of the scrolled element. Returns a function that removes the listeners. */
export function listen(element: HTMLElement, canvas: HTMLCanvasElement, target: Target): () => void {
  const ending = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(
    name: K,
    handle: (event: HTMLElementEventMap[K]) => void,
    passive = true,
  ): void => element.addEventListener(name, handle as EventListener, { signal: ending.signal, passive });
  const pointers = new Pointers(element, canvas, target);
  on("pointerdown", (event) => pointers.press(event));
  on("pointermove", (event) => pointers.move(event));
  on("pointerup", (event) => pointers.release(event));
  on("pointercancel", (event) => pointers.cancel(event));
  on("pointerleave", () => {
    target.surface.hovered.value = undefined;
    target.surface.pointed.value = undefined;
  });
  on("dblclick", (event) => {
    const { x, y } = pointers.placeOf(event);
    if (target.surface.boxUnder(x, y)) target.onDoubleClick?.();
  });
  on("wheel", (event) => pointers.wheel(event), false);
  return () => ending.abort();
}
