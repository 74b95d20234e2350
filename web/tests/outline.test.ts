import type { OutlineTrack, TracksRow } from "kinetoscope/remote";
import { expect, test } from "vitest";
import { covers, drawnTracks, firstWindow, isTooLarge, mostEvents, windowFor } from "../src/model/outline";

/** A trace with an event in each ns from 0 to 1,000. */
const eventsWithin = (start: number, end: number): Promise<number> =>
  Promise.resolve(Math.max(0, Math.min(end, 1000) - Math.max(start, 0)));
const whole = { start: 0, end: 1000 };

test("a file is too large if its events would not fit", () => {
  const read = { events: 100_000, bytes: 10_000_000, totalBytes: 1e9 };
  expect(isTooLarge(read, 1.6e9)).toBe(true);
  expect(isTooLarge(read, 1.8e9)).toBe(false);
  expect(isTooLarge({ ...read, totalBytes: undefined }, 1)).toBe(false);
  expect(isTooLarge({ ...read, events: 100 }, 1)).toBe(false);
});

test("a window has at most as many events as fit, and 500,000", () => {
  expect(mostEvents(3 * 2 ** 30)).toBe(500_000);
  expect(mostEvents(34_000_000)).toBe(100_000);
});

test("the first window is the longest part with few enough events, by halves", async () => {
  expect(await firstWindow(whole, 300, eventsWithin)).toEqual({ start: 0, end: 250 });
  expect(await firstWindow(whole, 1000, eventsWithin)).toEqual(whole);
  // All events are at one time.
  expect(await firstWindow(whole, 1, () => Promise.resolve(9))).toEqual({ start: 0, end: 1000 / 1024 });
});

test("what is visible is read with a margin, alone, or not", async () => {
  const view = { start: 400, end: 500 };
  expect(await windowFor(view, 300, eventsWithin)).toEqual({ start: 350, end: 550 });
  expect(await windowFor(view, 150, eventsWithin)).toEqual(view);
  expect(await windowFor(view, 50, eventsWithin)).toBe(100);
});

test("a window covers what is visible of the trace", () => {
  const window = { start: 0, end: 250 };
  expect(covers(window, { start: -50, end: 200 }, whole)).toBe(true);
  expect(covers(window, { start: 200, end: 300 }, whole)).toBe(false);
  expect(covers(window, { start: 10, end: 20 }, whole)).toBe(true);
});

test("all tracks of an outline are drawn, with what the window has of them", () => {
  const ofOutline = (track: number, tid: string, spans: number): OutlineTrack => {
    const named = { kind: "host", process: "p", thread: `thread ${tid}`, pid: "1", tid } as const;
    return { track, ...named, events: spans, spans, start_ns: 0, end_ns: 9, most_open: 2.4 };
  };
  const inWindow = { track: 0, kind: "host", pid: "1", tid: "8", depth: 5, spans: 3, events: 3 } as TracksRow;
  const drawn = drawnTracks([inWindow], [ofOutline(0, "7", 20), ofOutline(1, "8", 100), ofOutline(2, "9", 0)]);
  expect(drawn.map(({ track, outline, depth, spans }) => [track, outline, depth, spans])).toEqual([
    [-1, 0, 3, 20],
    [0, 1, 5, 100],
    [-3, 2, 3, 0],
  ]);
});
