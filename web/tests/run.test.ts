// Runs of several ranks: ranges, the lines of the heat map, arrivals.

import { describe, expect, test } from "vitest";
import type { Columns, RanksRow } from "kinetoscope/remote";
import { shades } from "../src/drawing/heat-map";
import { binned, gridOf, linesOf, scaleOf } from "../src/model/heat-map";
import { band, parseRanges, ranges, shortRanges, skewOf, type CollectiveRow } from "../src/model/run";

describe("ranges", () => {
  test("numbers are written as ranges and read back", () => {
    expect(ranges([7, 0, 1, 2, 3, 9, 10])).toBe("0-3, 7, 9, 10");
    expect(parseRanges("0-3, 7,9")).toEqual([0, 1, 2, 3, 7, 9]);
    expect(parseRanges(" 5 ")).toEqual([5]);
    expect(["", "a", "3-1", "1,,2", "0-99999999", "-1"].map((text) => parseRanges(text))).toEqual(
      Array(6).fill(undefined),
    );
  });

  test("a long list is cut between numbers", () => {
    expect(shortRanges([1, 3, 5, 7, 9, 11, 13, 15], 12)).toBe("1, 3, 5, 7, …");
    expect(shortRanges([1, 2, 3])).toBe("1-3");
  });
});

/** Columns of three ranks in two steps; rank 2 has only the second one. */
function columns(): Columns<RanksRow> {
  const of = (...values: number[]): Float64Array => Float64Array.from(values);
  return {
    length: 5,
    columns: {
      rank: of(0, 1, 0, 1, 2),
      step: of(4, 4, 5, 5, 5),
      own_ns: of(10, 30, 10, 50, 11),
      waited_ns: of(20, 0, 40, 0, 39),
      late_ns: of(0, 20, 0, 40, 0),
    },
  } as unknown as Columns<RanksRow>;
}

describe("heat map", () => {
  test("ranks are ordered by what they have above the median, or by number", () => {
    const grid = gridOf(columns());
    expect([grid.ranks, grid.steps]).toEqual([
      [0, 1, 2],
      [4, 5],
    ]);
    const lines = linesOf(grid, "own_ns", "imbalance", undefined);
    expect(lines.map(({ ranks }) => ranks)).toEqual([[1], [2], [0]]);
    expect([...(lines[1]?.values ?? [])]).toEqual([NaN, 11]);
    expect(lines[0]?.excess).toBe((10 + 39) / 2);
    expect(linesOf(grid, "own_ns", "rank", undefined).map(({ ranks }) => ranks)).toEqual([[0], [1], [2]]);
  });

  test("ranks of a class are one line with their mean", () => {
    const lines = linesOf(gridOf(columns()), "own_ns", "rank", (rank) => (rank === 1 ? 1 : 0));
    expect(lines.map(({ ranks }) => ranks)).toEqual([[0, 2], [1]]);
    expect([...(lines[0]?.values ?? [])]).toEqual([10, 10.5]);
  });

  test("waits begin at zero, and equal values have a scale", () => {
    const grid = gridOf(columns());
    expect(scaleOf(linesOf(grid, "waited_ns", "rank", undefined), "waited_ns")[0]).toBe(0);
    const same = { ranks: [0], values: Float64Array.of(3, 3), excess: 0 };
    expect(scaleOf([same], "own_ns")).toEqual([3, 4]);
    expect(scaleOf([], "own_ns")).toEqual([0, 1]);
  });

  test("more steps than cells keep the largest value of each cell", () => {
    expect([...binned(Float64Array.of(1, 5, NaN, 2), 2)]).toEqual([5, 2]);
    expect(binned(Float64Array.of(1, 2), 9)).toHaveLength(2);
  });

  test("the scale goes from the first colour to the last", () => {
    const all = shades(["#000000", "#804000", "#ffffff"]);
    expect([all[0], all[all.length - 1]]).toEqual(["rgb(0 0 0)", "rgb(255 255 255)"]);
  });
});

test("arrivals are relative to the last rank, in the order of time", () => {
  const row = (start: bigint, ranks: number[], waits: number[], more: object = {}): CollectiveRow =>
    ({
      kind: "collective",
      group: "0",
      description: null,
      start_ns: String(start),
      ranks,
      wait_ns: waits,
      counted: true,
      ...more,
    }) as unknown as CollectiveRow;
  const rows = [
    row(3_000_000_000n, [0, 1], [7, 0]),
    row(1_000_000_000n, [0, 1, 2], [0, 5, 2]),
    row(1n, [0, 1], [9, 9], { counted: false }),
    row(1n, [0, 1], [9, 9], { group: "other" }),
    row(1n, [4, 5], [9, 9]),
  ];
  const skew = skewOf(rows, { group: "0", description: null, ranks: [0, 1, 2] });
  expect(skew.ranks).toEqual([0, 1, 2]);
  expect([...skew.seconds]).toEqual([0, 2]);
  expect(skew.beforeLast.map((curve) => [...curve])).toEqual([
    [0, 7],
    [5, 0],
    [2, NaN],
  ]);
  expect(band(skew.beforeLast, 2).map((curve) => [...curve])).toEqual([
    [0, 0],
    [2, 7],
    [5, 7],
  ]);
});
