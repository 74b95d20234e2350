// Keys of timelines.

import { isForPage } from "../../components/shortcut";
import { moved, zoomed } from "../../model/timeline/viewport";
import type { Camera } from "./camera";
import type { Timeline } from "./controller";
import { selectChild, selectFirst, selectNeighbour, selectParent } from "./neighbours";

/** The action of each key. */
export type Actions = Record<string, (shift: boolean) => void>;

/**
 * Calls the actions of keys. Letters work with any focus; keys that buttons and tables use only work on a timeline. Returns a
 * function that removes the listener.
 */
export function listenToKeys(actions: Actions): () => void {
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = event.target as Element;
    if (!isForPage(event) || target.closest("dialog")) return;
    if (event.key.length > 1 && event.key !== "Escape" && !target.matches(".timeline-scroll")) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action(event.shiftKey);
  };
  document.addEventListener("keydown", onKeyDown);
  return () => document.removeEventListener("keydown", onKeyDown);
}

/** Returns the actions that zoom and move. `middle` is the time that keeps its position. */
export function movements(camera: Camera, middle: () => number): Actions {
  const zoom = (factor: number): void => camera.show(zoomed(camera.view.peek(), factor, middle()), "animated");
  const move = (share: number): void => camera.show(moved(camera.view.peek(), share), "animated");
  return {
    w: () => zoom(0.6),
    s: () => zoom(1 / 0.6),
    "+": () => zoom(0.6),
    "-": () => zoom(1 / 0.6),
    a: () => move(-0.25),
    d: () => move(0.25),
    ArrowLeft: () => move(-0.1),
    ArrowRight: () => move(0.1),
    Home: () => camera.show(camera.whole, "animated"),
  };
}

/** Returns the actions of the Timeline view. */
export function timelineKeys(timeline: Timeline): Actions {
  const { camera, surface } = timeline;
  const scroll = (by: number): void => surface.scrollTo(surface.scroll.peek() + by);
  return {
    ...movements(camera, () => surface.middle()),
    q: () => scroll(-120),
    e: () => scroll(120),
    ArrowUp: () => scroll(-40),
    ArrowDown: () => scroll(40),
    f: () => timeline.fit(),
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
