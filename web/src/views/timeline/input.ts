// Mouse, touch, wheel and keyboard input of the timeline.

import { isForPage } from "../../components/shortcut";
import { RULER } from "../../drawing/timeline";
import { moved, zoomed, type Viewport } from "../../model/timeline/viewport";
import type { Timeline } from "./controller";
import { selectChild, selectFirst, selectNeighbour, selectParent } from "./neighbours";

/** The distance in pixels from which a movement is a drag. */
const DRAG = 4;

type Mode = "none" | "pan" | "box" | "zoom" | "pinch";

interface Gesture {
  mode: Mode;
  x: number;
  y: number;
  scroll: number;
  view: Viewport;
  moved: boolean;
}

/** Handles the input of the scrolled element. Returns a function that removes the listeners. */
export function listen(element: HTMLElement, canvas: HTMLCanvasElement, timeline: Timeline): () => void {
  const ending = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(
    name: K,
    handle: (event: HTMLElementEventMap[K]) => void,
    passive = true,
  ): void => element.addEventListener(name, handle as EventListener, { signal: ending.signal, passive });
  const pointers = new Map<number, { x: number; y: number }>();
  let gesture: Gesture | undefined;
  let pinched = 0;

  const placeOf = (event: MouseEvent): { x: number; y: number } => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const zoomAt = (factor: number, x: number): void =>
    timeline.setView(zoomed(timeline.view.peek(), factor, timeline.timeAt(x)));
  const spread = (): number => {
    const [a, b] = [...pointers.values()];
    return a && b ? Math.abs(a.x - b.x) + Math.abs(a.y - b.y) : 0;
  };

  on("pointerdown", (event) => {
    if (!canvas.contains(event.target as Node) || event.button > 1) return;
    const { x, y } = placeOf(event);
    pointers.set(event.pointerId, { x, y });
    canvas.setPointerCapture(event.pointerId);
    element.focus({ preventScroll: true });
    const begin = { x, y, scroll: timeline.scroll.peek(), view: timeline.view.peek(), moved: false };
    if (pointers.size === 2) {
      gesture = { ...begin, mode: "pinch", moved: true };
      pinched = spread();
    } else if (event.pointerType === "touch" || event.shiftKey || event.button === 1)
      gesture = { ...begin, mode: "pan" };
    else gesture = { ...begin, mode: y < RULER ? "zoom" : "box" };
  });

  on("pointermove", (event) => {
    const { x, y } = placeOf(event);
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, { x, y });
    if (!gesture) {
      timeline.hovered.value = canvas.contains(event.target as Node) ? timeline.boxUnder(x, y) : undefined;
      return;
    }
    gesture.moved ||= Math.hypot(x - gesture.x, y - gesture.y) > DRAG;
    if (!gesture.moved) return;
    timeline.hovered.value = undefined;
    if (gesture.mode === "pinch") {
      const now = spread();
      const middle = [...pointers.values()].reduce((sum, pointer) => sum + pointer.x / pointers.size, 0);
      if (now > 0 && pinched > 0) zoomAt(pinched / now, middle);
      pinched = now;
    } else if (gesture.mode === "pan") {
      timeline.setView(moved(gesture.view, (gesture.x - x) / timeline.size.peek().width));
      timeline.scrollTo(gesture.scroll + gesture.y - y);
    } else {
      const [start, end] = [timeline.timeAt(Math.min(x, gesture.x)), timeline.timeAt(Math.max(x, gesture.x))];
      const inLayout = (at: number): number => at - timeline.header + timeline.scroll.peek();
      const isBox = gesture.mode === "box";
      const [top, bottom] = isBox
        ? [inLayout(Math.min(y, gesture.y)), inLayout(Math.max(y, gesture.y))]
        : [inLayout(0), inLayout(timeline.size.peek().height)];
      timeline.area.value = { start, end, top, bottom };
    }
  });

  const release = (event: PointerEvent): void => {
    pointers.delete(event.pointerId);
    const ended = gesture;
    const area = timeline.area.peek();
    if (pointers.size > 0) return;
    gesture = undefined;
    if (!ended) return;
    if (!ended.moved) {
      const { x, y } = placeOf(event);
      timeline.select(timeline.boxUnder(x, y)?.event);
    } else if (area && ended.mode === "box") timeline.selectArea(area);
    else if (area && ended.mode === "zoom") {
      timeline.area.value = undefined;
      timeline.setView({ start: area.start, end: area.end }, "animated");
    }
  };
  on("pointerup", release);
  on("pointercancel", (event) => {
    pointers.delete(event.pointerId);
    gesture = undefined;
    timeline.area.value = undefined;
  });
  on("pointerleave", () => (timeline.hovered.value = undefined));
  on("dblclick", (event) => {
    const { x, y } = placeOf(event);
    const box = timeline.boxUnder(x, y);
    if (box) timeline.fit();
  });

  on(
    "wheel",
    (event) => {
      const { x } = placeOf(event);
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        zoomAt(Math.exp(Math.max(-50, Math.min(50, event.deltaY)) * 0.008), x);
      } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        event.preventDefault();
        timeline.setView(moved(timeline.view.peek(), sideways / timeline.size.peek().width));
      }
    },
    false,
  );

  const actions = keys(timeline);
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = event.target as Element;
    if (!isForPage(event) || target.closest("dialog")) return;
    // Letters work with any focus; keys that buttons and tables use only work on the timeline.
    if (event.key.length > 1 && event.key !== "Escape" && target !== element) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action(event.shiftKey);
  };
  document.addEventListener("keydown", onKeyDown, { signal: ending.signal });
  return () => ending.abort();
}

/** Returns the action of each key. */
function keys(timeline: Timeline): Record<string, (shift: boolean) => void> {
  const middle = (): number => {
    const hovered = timeline.hovered.peek();
    const { start, end } = timeline.view.peek();
    return hovered ? (Math.max(hovered.start, start) + Math.min(hovered.end, end)) / 2 : (start + end) / 2;
  };
  const zoom = (factor: number): void => timeline.setView(zoomed(timeline.view.peek(), factor, middle()), "animated");
  const move = (share: number): void => timeline.setView(moved(timeline.view.peek(), share), "animated");
  const scroll = (by: number): void => timeline.scrollTo(timeline.scroll.peek() + by);
  return {
    w: () => zoom(0.6),
    s: () => zoom(1 / 0.6),
    "+": () => zoom(0.6),
    "-": () => zoom(1 / 0.6),
    a: () => move(-0.25),
    d: () => move(0.25),
    ArrowLeft: () => move(-0.1),
    ArrowRight: () => move(0.1),
    q: () => scroll(-120),
    e: () => scroll(120),
    ArrowUp: () => scroll(-40),
    ArrowDown: () => scroll(40),
    f: () => timeline.fit(),
    Home: () => timeline.setView(timeline.whole, "animated"),
    n: (shift) => void timeline.goToMatch(shift ? -1 : 1),
    "[": () => void selectNeighbour(timeline, -1),
    "]": () => void selectNeighbour(timeline, 1),
    Enter: () => selectFirst(timeline),
    p: () => selectParent(timeline),
    c: () => void selectChild(timeline),
    m: () => timeline.selectVisible(),
    Escape: () => timeline.clear(),
  };
}
