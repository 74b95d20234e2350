// Tests of the computations of the view Serving, and of the phases on the timeline.

import { describe, expect, test } from "vitest";
import type { ServingGroupRow, ServingIterationRow, TracksRow } from "kinetoscope/remote";
import { COLUMNS } from "kinetoscope/columns";
import { timeTicks } from "../src/model/format";
import { logarithmicTicks, nearest, scaleOf } from "../src/model/marks";
import { PHASE_COLORS, phaseColors } from "../src/model/phases";
import {
  groupsInOrder,
  lengthOf,
  SERVING_PARTS,
  servingOf,
  servingParts,
  sizesOf,
  steadyCount,
  steadyOf,
} from "../src/model/serving";
import { colorAt, colorOfSpan, phasesInTime } from "../src/model/timeline/phases";

const group = (changes: Partial<ServingGroupRow>): ServingGroupRow =>
  ({ kind: "batch", count: 1, warm_up: 0, batch_mean: null, tokens: null, ...changes }) as ServingGroupRow;

const iteration = (changes: Partial<ServingIterationRow>): ServingIterationRow =>
  ({ kind: "iteration", batch: null, tokens: null, is_warm_up: false, ...changes }) as ServingIterationRow;

describe("the answer", () => {
  test("rows are split by kind, and an answer without iterations has none", () => {
    expect(servingOf([])).toBeUndefined();
    const found = servingOf([
      group({ kind: "total" }),
      group({ kind: "phase", phase: "decode" }),
      group({ phase: "decode" }),
      iteration({ phase: "decode" }),
    ]);
    expect([found?.phases.length, found?.groups.length, found?.graphs.length, found?.iterations.length]).toEqual([
      1, 1, 0, 1,
    ]);
  });

  test("every part is a column, in the order of the columns", () => {
    const keys: string[] = COLUMNS.serving.map((column) => column.key);
    const places = SERVING_PARTS.map((part) => keys.indexOf(part.key));
    expect(places).toEqual(places.map((_, at) => (places[0] as number) + at));
    expect(new Set(SERVING_PARTS.map((part) => part.color)).size).toBe(SERVING_PARTS.length);
    expect(servingParts([group({ gemm_ns: 0, host_ns: 3 })]).map((part) => part.key)).toEqual(["host_ns"]);
  });

  test("warm-up is left out unless there are no other iterations", () => {
    const [warm, other] = [iteration({ is_warm_up: true }), iteration({})];
    expect(steadyOf([warm, other])).toEqual([other]);
    expect(steadyOf([warm])).toEqual([warm]);
    expect([steadyCount({ count: 5, warm_up: 2 }), steadyCount({ count: 2, warm_up: 2 })]).toEqual([3, 2]);
  });

  test("a size that no name states cannot be chosen", () => {
    expect(sizesOf([iteration({}), iteration({ tokens: 4 })])).toEqual(["tokens"]);
    expect(sizesOf([iteration({})])).toEqual([]);
  });

  test("groups are ordered by phase, requests and tokens; those that take least are left out", () => {
    const groups = [
      group({ phase: "decode", batch_mean: 8 }),
      group({ phase: "prefill", batch_mean: 1, tokens: 90 }),
      group({ phase: "prefill", batch_mean: 1, tokens: 120, count: 2 }),
      group({ phase: "decode", batch_mean: 2 }),
      group({ phase: "decode", batch_mean: 1 }),
    ];
    const phases = [group({ kind: "phase", phase: "decode" }), group({ kind: "phase", phase: "prefill" })];
    const serving = { total: group({}), phases, groups, graphs: [], iterations: [] };
    expect(groupsInOrder(serving, 4)).toEqual([groups[3], groups[0], groups[2], groups[1]]);
  });

  test("a bar has the length of a value of the answer, and none if the value is missing", () => {
    const row = group({ time_per_token_ns: null, p50_ns: 7 });
    expect([lengthOf(row, "token"), lengthOf(row, "iteration"), lengthOf(row, "share")]).toEqual([null, 7, 1]);
  });
});

describe("colours of phases", () => {
  test("usual phases have the same colour in every trace, others the free ones", () => {
    expect([...phaseColors(["prefill", "decode"])]).toEqual([
      ["prefill", 1],
      ["decode", 0],
    ]);
    expect([...phaseColors(["kind 1", "decode", "kind 2", "other"]).values()]).toEqual([1, 0, 2, PHASE_COLORS]);
  });

  test("more phases than colours share the last one", () => {
    const colors = [...phaseColors(Array.from({ length: 12 }, (_, at) => `kind ${at}`)).values()];
    expect(new Set(colors.slice(0, PHASE_COLORS)).size).toBe(PHASE_COLORS);
    expect(colors.slice(PHASE_COLORS)).toEqual([8, 8, 8, 8]);
  });
});

describe("phases on the timeline", () => {
  const phases = [group({ kind: "phase", phase: "decode" }), group({ kind: "phase", phase: "prefill" })];
  const iterations = [
    iteration({ phase: "prefill", event: 4, start_ns: 100, range_ns: 50, wall_ns: 80 }),
    iteration({ phase: "decode", event: 9, start_ns: 160, range_ns: 20, wall_ns: 40 }),
  ];
  const tracks = (...pids: string[]) => pids.map((pid, track) => ({ pid, track }) as TracksRow);
  const spans = (...of: number[]) => ({ event: Uint32Array.of(3, 4, 9), track: Uint32Array.from(of) });

  test("a span on the track of iterations has the phase of the one that it begins in", () => {
    const found = phasesInTime({ phases, iterations }, spans(1, 0, 0), tracks("7", "7"));
    const own = (start: number) => colorOfSpan(found, { track: 0, onDevice: false }, start, start + 1);
    expect([99, 100, 149, 150, 160, 179, 180].map(own)).toEqual([-1, 1, 1, -1, 0, 0, -1]);
    expect(colorOfSpan(found, { track: 1, onDevice: false }, 120, 121)).toBe(-1);
  });

  test("device work has the phase of the wall time in which it ends", () => {
    const found = phasesInTime({ phases, iterations }, spans(1, 0, 0), tracks("7", "7"));
    const own = (start: number, end: number) => colorOfSpan(found, { track: 1, onDevice: true }, start, end);
    expect([own(100, 180), own(170, 181), own(200, 220), own(215, 221), own(180, 180)]).toEqual([1, 0, 0, -1, 0]);
  });

  test("device work of several processes with iterations has no phase", () => {
    const found = phasesInTime({ phases, iterations }, spans(0, 0, 1), tracks("7", "8"));
    expect(found.onDevice).toBeUndefined();
    expect(colorOfSpan(found, { track: 2, onDevice: true }, 100, 150)).toBe(-1);
    expect(colorOfSpan(found, { track: 1, onDevice: false }, 160, 170)).toBe(0);
  });

  test("ranges are found by their start and end", () => {
    const ranges = { start: Float64Array.of(0, 10), end: Float64Array.of(5, 20), color: Uint8Array.of(3, 4) };
    expect([-1, 0, 5, 10, 19, 20].map((time) => colorAt(ranges, time))).toEqual([-1, 3, -1, 4, 4, -1]);
  });
});

describe("marks", () => {
  test("the nearest mark in reach is found, of equally near ones the first", () => {
    const box = (left: number, right: number) => ({ left, right, top: 0, bottom: 10 });
    const boxes = [box(0, 10), box(20, 30), box(20, 30)];
    expect([5, 14, 16, 25, 40].map((x) => nearest(boxes, x, 5, 8))).toEqual([0, 0, 1, 1, undefined]);
    expect([nearest(boxes, 13, 5, 3, 0), nearest(boxes, 13, 11, 8, 0), nearest(boxes, 5, -2, 3)]).toEqual([
      0,
      undefined,
      0,
    ]);
  });

  test("an axis contains all values, and is logarithmic for values that differ much", () => {
    for (const values of [[5], [0, 3], [-2, 9], [1, 19], [1, 500], [0, 500]]) {
      const { range, isLogarithmic } = scaleOf(values);
      expect(range[0]).toBeLessThanOrEqual(Math.min(...values));
      expect(range[1]).toBeGreaterThan(Math.max(...values));
      expect(isLogarithmic).toBe(values[0] === 1 && values[1] === 500);
    }
    expect(scaleOf([]).range).toEqual([0, 1]);
  });

  test("the ticks of a logarithmic axis are round and within it", () => {
    expect(logarithmicTicks(12.8, 3521)).toEqual([20, 50, 100, 200, 500, 1000, 2000]);
    expect(logarithmicTicks(3, 40_000)).toEqual([10, 100, 1000, 10_000]);
  });

  test("the times of an axis have one unit and as many digits as they need", () => {
    expect(timeTicks([0, 500_000, 1_000_000, 1_500_000])).toEqual(["0", "0.5 ms", "1.0 ms", "1.5 ms"]);
    expect(timeTicks([1_140_000, 1_150_000])).toEqual(["1.14 ms", "1.15 ms"]);
    expect(timeTicks([100, 200, null])).toEqual(["100 ns", "200 ns", ""]);
    expect(timeTicks([2e9, 2.2e9])).toEqual(["2.0 s", "2.2 s"]);
  });
});
