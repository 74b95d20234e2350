// Tests of the computations of the views, without a page.

import { describe, expect, test } from "vitest";
import type { DiffRow, StepsRow, TrendResult, TrendChangeRow, TrendRow, TrendSeriesRow } from "kinetoscope/remote";
import { certainty, changesOf, rangeOf, waterfall, type Total } from "../src/model/compare";
import { amount, bytes, cell, exact, share, time } from "../src/model/format";
import { histogram, quantile } from "../src/model/histogram";
import { rankOfName, relationOf } from "../src/model/ranks";
import { search } from "../src/model/search";
import { asTabs, sorted } from "../src/model/sorting";
import { deviations, OUTLIER } from "../src/model/steps";
import { describeRun, seriesOf } from "../src/model/trend";

describe("format", () => {
  test("a time is shown in the largest fitting unit", () => {
    expect([0, 7, 999, 1500, 999_960, 12_345_678, 1e9, 6.1e10].map(time)).toEqual([
      "0",
      "7 ns",
      "999 ns",
      "1.50 µs",
      "1.00 ms",
      "12.3 ms",
      "1 s",
      "61 s",
    ]);
    expect(time(-2500)).toBe("-2.50 µs");
  });

  test("sizes use powers of 1024, amounts powers of 1000", () => {
    expect([0, 512, 1536, 3 * 1024 ** 3].map(bytes)).toEqual(["0", "512 B", "1.50 KB", "3 GB"]);
    expect([12, 67.2e12].map(amount)).toEqual(["12", "67.2 T"]);
    expect(share(0.1234)).toBe("12.3%");
  });

  test("a missing value is a dash, and an exact value has a unit", () => {
    expect(cell("ns", null)).toBe("–");
    expect(exact("ns", 1_234_567)).toBe("1,234,567 ns");
    expect(exact("bytes", 2048)).toBe("2,048 bytes");
    expect(cell("json", [[1, 2]])).toBe("[[1,2]]");
  });
});

describe("search", () => {
  test("text matches case-insensitively, text between slashes is a regular expression", () => {
    expect(search("MM").matches("aten::addmm")).toBe(true);
    expect(search("/^aten::mm$/").matches("aten::addmm")).toBe(false);
    expect(search("/MM/i").matches("aten::mm")).toBe(true);
    expect(search("a.b").matches("axb")).toBe(false);
    expect(search("").matches("")).toBe(true);
  });

  test("an invalid expression matches nothing and has an error; a global one is stateless", () => {
    const wrong = search("/(/");
    expect(wrong.matches("(")).toBe(false);
    expect(wrong.error).toMatch(/\(/);
    const global = search("/a/g");
    expect([global.matches("a"), global.matches("a")]).toEqual([true, true]);
  });
});

describe("ranks", () => {
  const of = (name: string, rank: number | null = null, worldSize: number | null = null) => ({ name, rank, worldSize });

  test("ranks are read from file names", () => {
    expect(
      ["rank3.json", "rank-12.pt.trace.json.gz", "worker_0.json", "trace_r7.json", "resnet50.json", "run.json"].map(
        rankOfName,
      ),
    ).toEqual([3, 12, 0, 7, undefined, undefined]);
  });

  test("traces are ranks of one run, two runs, or unclear", () => {
    expect(relationOf([of("a")])).toBe("one");
    expect(relationOf([of("a", 0, 2), of("b", 1, 2)])).toBe("ranks");
    expect(relationOf([of("rank0.json"), of("rank1.json"), of("rank2.json")])).toBe("ranks");
    expect(relationOf([of("before.json"), of("after.json")])).toBe("runs");
    expect(relationOf([of("a", 0, 8), of("b", 0, 8)])).toBe("runs");
    expect(relationOf([of("a", 0, 2), of("b", 1, 4)])).toBe("unclear");
    expect(relationOf([of("a"), of("b"), of("c")])).toBe("unclear");
  });
});

describe("sorting", () => {
  test("missing values come last in both directions, and the sort is stable", () => {
    const rows = [
      { n: 2, id: "a" },
      { n: null, id: "b" },
      { n: 3, id: "c" },
      { n: 2, id: "d" },
    ];
    const ids = (descending: boolean) =>
      sorted(rows, (row) => row.n, descending)
        .map((row) => row.id)
        .join("");
    expect(ids(true)).toBe("cadb");
    expect(ids(false)).toBe("adcb");
  });

  test("tabs and line breaks in a value do not break a row", () => {
    expect(asTabs([{ key: "a", title: "A" }], ["x\ty\nz"], (_, row) => row)).toBe("a\nx y z");
  });
});

describe("histogram", () => {
  test("every duration is in one bin, on either axis", () => {
    for (const durations of [
      [5, 5, 5],
      [1, 10, 100, 1000, 10_000],
      [0, 0, 7],
      [3, 4, 5, 6],
    ]) {
      const found = histogram(Float64Array.from(durations), 8);
      expect(found.counts.reduce((a, b) => a + b, 0)).toBe(durations.length);
      expect([found.min, found.max]).toEqual([Math.min(...durations), Math.max(...durations)]);
    }
    expect(quantile(Float64Array.of(1, 2, 3, 4), 0.5)).toBe(2.5);
    expect(quantile(new Float64Array(), 0.5)).toBeNaN();
  });
});

describe("steps", () => {
  test("only the outlier exceeds the threshold", () => {
    const steps = [10, 11, 10, 9, 10, 50].map((wall_ns) => ({ wall_ns }) as StepsRow);
    const far = deviations(steps);
    expect(far.filter((one) => Math.abs(one) >= OUTLIER)).toHaveLength(1);
    expect(far[5]).toBeGreaterThan(OUTLIER);
    expect(deviations([{ wall_ns: 5 } as StepsRow])).toEqual([0]);
  });
});

describe("compare", () => {
  const part = (name: string, contribution: number, significant: boolean) =>
    ({
      kind: "kernel",
      name,
      part_of: "device_busy",
      contribution_ns: contribution,
      significant,
    }) as unknown as DiffRow;
  const total = { kind: "total", name: "device_busy", a_ns: 1000, b_ns: 1060, contribution_ns: 60 } as unknown as Total;
  const rows = [
    part("a", 50, true),
    part("b", -30, true),
    part("c", 35, false),
    part("d", 5, false),
    part("e", 0, false),
  ];

  test("each bar of a waterfall begins where the one before it ends", () => {
    const bars = waterfall(rows, total, 2, (count) => `${count} others`);
    expect(bars.map(({ name, from, to }) => [name, from, to])).toEqual([
      ["A", 0, 1000],
      ["a", 1000, 1050],
      ["b", 1050, 1020],
      ["2 others", 1020, 1060],
      ["B", 0, 1060],
    ]);
  });

  test("the axis begins at 0 unless the change is small", () => {
    const [low, high] = rangeOf(waterfall(rows, total, 9, String));
    expect(low).toBeGreaterThan(900);
    expect(high).toBeGreaterThan(1060);
    expect(rangeOf(waterfall([part("a", 960, true)], { ...total, a_ns: 100 }, 9, String))[0]).toBe(0);
  });

  test("verdicts have words, and sums are not in the table", () => {
    expect([true, false, null].map(certainty)).toEqual(["change", "noise", "unknown"]);
    expect(changesOf([total as DiffRow, ...rows]).map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e"]);
  });
});

describe("trend", () => {
  const shared = { unit: "ns", run: 0, commit: "", before: 0, after: 0, change: null } as const;
  const change = (metric: string, more: Partial<TrendChangeRow>): TrendRow => ({
    kind: "change",
    metric,
    probability: 0,
    ...shared,
    ...more,
  });
  const series = (metric: string, more: Partial<TrendSeriesRow>): TrendRow => ({
    kind: "series",
    metric,
    values: null,
    ...shared,
    ...more,
  });
  const result: TrendResult = {
    runs: [],
    json: "",
    table: "",
    rows: [
      change("step", { run: 6, before: 20, after: 30 }),
      change("step", { run: 3, before: 10, after: 20 }),
      series("memory peak", { before: 7, after: 7, values: [null, 7, 7, 7, 7, 7, null] }),
      series("step", { before: 10, after: 30, values: [10, 10, 20, 20, 20, 30, 30] }),
    ],
  };

  test("metrics with changes come first, with a level between each two changes", () => {
    const [step, memory] = seriesOf(result);
    expect(step?.metric).toBe("step");
    expect(step?.changes.map(({ run }) => run)).toEqual([3, 6]);
    expect(step?.levels).toEqual([
      { from: 1, to: 2, value: 10 },
      { from: 3, to: 5, value: 20 },
      { from: 6, to: 7, value: 30 },
    ]);
    expect(memory?.levels).toEqual([{ from: 2, to: 6, value: 7 }]);
  });

  test("runs are described by what is known of them", () => {
    const name = (run: number): string => `run ${run}`;
    const known = { run: 3, commit: "0123456789abcdef", host: "", time_s: 1_750_000_000 };
    expect(describeRun(known, name)).toBe("run 3 · 0123456789 · 2025-06-15 15:06");
    expect(describeRun({ ...known, commit: "", time_s: 0 }, name)).toBe("run 3");
  });
});
