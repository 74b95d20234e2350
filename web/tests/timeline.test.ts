// Tests of the parts of timelines and flame graphs that need no canvas.

import { describe, expect, test } from "vitest";
import type { Columns, CountersRow, CriticalPathRow, StepsRow, Tiles, TracksRow, TreeRow } from "kinetoscope/remote";
import { colorOf, COLORS } from "../src/model/colors";
import { shortName } from "../src/model/short-name";
import { boxes, flames, nodeAt, pathOf, type FlameNode } from "../src/model/flame";
import { boxAt, boxesOf } from "../src/model/timeline/boxes";
import { Chunks, chunkLength, levelOf, placesOf } from "../src/model/timeline/chunks";
import { rowAt, layout } from "../src/model/timeline/layout";
import { criticalPathOf, periodAt, runsOf } from "../src/model/timeline/path";
import { longestOn, longestWithin, neighbour } from "../src/model/timeline/pick";
import { pairsOf, rangeOfPair, type Pair } from "../src/model/timeline/steps";
import { centered, clamped, moved, ticks, zoomed } from "../src/model/timeline/viewport";

describe("viewport", () => {
  test("zooming keeps the time under the pointer in place", () => {
    const nearer = zoomed({ start: 0, end: 100 }, 0.5, 25);
    expect(nearer).toEqual({ start: 12.5, end: 62.5 });
    expect((25 - nearer.start) / (nearer.end - nearer.start)).toBeCloseTo(0.25);
    expect(moved({ start: 0, end: 100 }, 0.25)).toEqual({ start: 25, end: 125 });
  });

  test("a view stays near the trace", () => {
    const whole = { start: 0, end: 1000 };
    for (const view of [
      { start: -1e9, end: 1e9 },
      { start: 5, end: 5 },
      { start: 1e6, end: 1e6 + 10 },
      { start: -500, end: -400 },
    ]) {
      const { start, end } = clamped(view, whole);
      expect(end - start).toBeGreaterThanOrEqual(20);
      expect(start).toBeGreaterThanOrEqual(-60);
      expect(end).toBeLessThanOrEqual(1060);
    }
  });

  test("a centered range is in the middle, and large enough to be visible", () => {
    expect(centered({ start: 0, end: 100 }, 200, 220)).toEqual({ start: 160, end: 260 });
    const far = centered({ start: 0, end: 1e9 }, 500, 600);
    expect(100 / (far.end - far.start)).toBeGreaterThan(0.05);
  });

  test("ticks are round and visible", () => {
    const { step, times } = ticks({ start: 3, end: 97 }, 10);
    expect(step).toBe(10);
    expect(times).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90]);
  });
});

describe("critical path", () => {
  const columns = {
    start_ns: Float64Array.from([0, 10, 20]),
    time_ns: Float64Array.from([10, 10, 20]),
    track: Float64Array.from([3, NaN, 5]),
  };
  const path = criticalPathOf({ columns, length: 3 } as unknown as Columns<CriticalPathRow>);

  test("has a track in each period, or none between two of them", () => {
    expect([...path.track]).toEqual([3, -1, 5]);
    expect([-1, 0, 9, 10, 39, 50].map((time) => periodAt(path, time))).toEqual([-1, 0, 0, 1, 2, 2]);
  });

  test("is one run for the pixels of a track", () => {
    const runs = [
      { from: 1, to: 2, track: 3 },
      { from: 2, to: 3, track: -1 },
      { from: 3, to: 5, track: 5 },
    ];
    // Ten nanoseconds in a pixel, from before the start to after the end.
    expect(runsOf(path, { start: -10, end: 60 }, 7)).toEqual(runs);
  });
});

describe("chunks", () => {
  test("cover the visible range, at a level that matches the screen", () => {
    expect(levelOf(1)).toBe(0);
    expect(levelOf(1000)).toBe(10);
    expect(2 ** levelOf(700)).toBeGreaterThanOrEqual(700);
    const places = placesOf(3, 4, -10, chunkLength(4) * 1.5);
    expect(places.map((place) => place.at)).toEqual([-1, 0, 1]);
  });

  test("are requested once, replaced by coarser ones while missing, and evicted by age", async () => {
    const requested: string[] = [];
    const chunks = new Chunks(
      async ({ level, at }) => (requested.push(`${level}/${at}`), `${level}/${at}`),
      () => undefined,
      3,
    );
    const settle = () => new Promise((resolve) => setTimeout(resolve));
    chunks.want([{ of: 0, level: 4, at: 0 }]);
    chunks.want([{ of: 0, level: 4, at: 0 }]);
    await settle();
    expect(requested).toEqual(["4/0"]);
    expect(chunks.isIdle).toBe(true);
    expect(chunks.get({ of: 0, level: 1, at: 5 })).toBeUndefined();
    expect(chunks.coarser({ of: 0, level: 1, at: 5 })).toBe("4/0");
    expect(chunks.coarser({ of: 0, level: 1, at: 8 })).toBeUndefined();
    chunks.want([1, 2, 3].map((at) => ({ of: 0, level: 1, at })));
    await settle();
    expect(chunks.get({ of: 0, level: 4, at: 0 })).toBeUndefined();
    expect(chunks.get({ of: 0, level: 1, at: 3 })).toBe("1/3");
  });

  test("requests that are not needed any more are dropped", async () => {
    const requested: number[] = [];
    const chunks = new Chunks(
      async ({ at }) => (requested.push(at), at),
      () => undefined,
    );
    chunks.want(Array.from({ length: 20 }, (_, at) => ({ of: 0, level: 0, at })));
    chunks.want([{ of: 0, level: 0, at: 99 }]);
    await new Promise((resolve) => setTimeout(resolve));
    expect(requested).toHaveLength(7);
    expect(requested).toContain(99);
  });
});

const tiles = (rows: [depth: number, start: number, end: number, name: number][], names: string[]): Tiles => ({
  length: rows.length,
  depth: Uint32Array.from(rows, (row) => row[0]),
  start_ns: Float64Array.from(rows, (row) => row[1]),
  end_ns: Float64Array.from(rows, (row) => row[2]),
  count: Uint32Array.from(rows, () => 1),
  event: Uint32Array.from(rows, (_, at) => at),
  name: Uint32Array.from(rows, (row) => row[3]),
  names,
});

describe("boxes", () => {
  test("each is drawn once, grouped by colour, and found by position", () => {
    const made = boxesOf(
      tiles(
        [
          [0, 0, 100, 0],
          [1, 10, 20, 1],
          [1, 30, 90, 2],
        ],
        ["a", "b", "c"],
      ),
      1,
    );
    expect([...made.order].sort()).toEqual([0, 1, 2]);
    expect(made.begins[COLORS]).toBe(3);
    expect(boxAt(made, 15, 1, 0)).toBe(1);
    expect(boxAt(made, 25, 1, 0)).toBeUndefined();
    expect(boxAt(made, 25, 0, 0)).toBe(0);
    expect([...made.wide]).toEqual([0, 2]);
  });

  test("digits do not change a colour, and long names are shortened", () => {
    expect(colorOf("layer_1")).toBe(colorOf("layer_27"));
    expect(colorOf("anything")).toBeLessThan(COLORS);
    expect(shortName("void at::native::vectorized_elementwise_kernel<4, float>(int)")).toBe(
      "vectorized_elementwise_kernel",
    );
    expect(shortName("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>(int)")).toBe(
      "CatArrayBatchedCopy",
    );
    expect(shortName("void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16>(Params)")).toBe(
      "cutlass_80_wmma_tensorop_bf16",
    );
    expect(shortName("aten::mm")).toBe("aten::mm");
    expect(shortName("operator::(")).not.toBe("");
  });
});

describe("keyboard navigation of boxes", () => {
  const drawn = tiles(
    [
      [0, 0, 100, 0],
      [1, 0, 30, 0],
      [1, 40, 90, 0],
      [1, 95, 99, 0],
      [2, 45, 46, 0],
    ],
    ["a"],
  );

  test("finds the longest visible box, the longest child, and the neighbours", () => {
    expect(longestWithin(drawn, 10, 60)).toBe(0);
    expect(longestWithin(drawn, 200, 300)).toBeUndefined();
    expect(longestOn(drawn, 1, 0, 100)).toBe(2);
    expect(longestOn(drawn, 3, 0, 100)).toBeUndefined();
    const second = { event: 2, depth: 1, start: 40, end: 90 };
    expect([neighbour(drawn, second, 1), neighbour(drawn, second, -1)]).toEqual([3, 1]);
    expect(neighbour(drawn, { event: 3, depth: 1, start: 95, end: 99 }, 1)).toBeUndefined();
  });
});

describe("layout", () => {
  const track = (at: number, process: string, thread: string, more: Partial<TracksRow> = {}) =>
    ({ track: at, kind: "host", process, thread, pid: "9", tid: "1", spans: 5, depth: 2, ...more }) as TracksRow;
  const counter = (at: number, process: string) =>
    ({ counter: at, process, name: "busy", unit: "share", points: 3, max: 1 }) as CountersRow;
  const tracks = [
    track(0, "python 9", "main"),
    track(1, "GPU 0", "stream 7", { kind: "device", pid: "0", depth: 1 }),
    track(2, "python 9", "empty", { spans: 0 }),
  ];
  const all = { closed: new Set<string>(), matches: () => true };

  test("devices come first, with their counters, and empty tracks are omitted", () => {
    const { rows, height } = layout(tracks, [counter(0, "device 0"), counter(1, "CPU")], all);
    expect(rows.map((row) => row.title)).toEqual(["GPU 0", "busy", "stream 7", "python 9", "main", "CPU", "busy"]);
    expect(rows.every((row, at) => at === 0 || row.y >= (rows[at - 1]?.y ?? 0) + (rows[at - 1]?.height ?? 0))).toBe(
      true,
    );
    expect(rowAt({ rows, height }, rows[4]?.y ?? 0)?.title).toBe("main");
  });

  test("closed rows are smaller, rows that do not match are omitted", () => {
    const closed = layout(tracks, [], { ...all, closed: new Set(["pGPU 0", "dGPU 0", "t0"]) });
    expect(closed.rows.map((row) => row.title)).toEqual(["GPU 0", "python 9", "main"]);
    expect(closed.rows[2]?.height).toBe(18);
    expect(layout(tracks, [], { ...all, matches: (title) => title.includes("stream") }).rows).toHaveLength(2);
  });
});

describe("flames", () => {
  const none = 0xffffffff;
  const text = (values: (string | null)[]) => {
    const dictionary = [...new Set(values.filter((value) => value !== null))];
    return {
      dictionary,
      codes: Uint32Array.from(values, (value) => (value === null ? none : dictionary.indexOf(value))),
    };
  };
  const numbers = (...values: number[]) => Float64Array.from(values);
  const columns = {
    length: 5,
    columns: {
      lane: text(["L", "L", "L", "L", "L"]),
      depth: numbers(NaN, 0, 1, 1, 0),
      name: text([null, "a", "b", "c", "d"]),
      path: text(["L", "a", "b", "c", "d"]),
      count: numbers(9, 1, 2, 3, 1),
      total_ns: numbers(100, 80, 50, 20, 20),
      self_ns: numbers(NaN, 10, 50, 20, 20),
      device_total_ns: numbers(30, 30, 10, 20, 0),
      device_self_ns: numbers(0, 0, 10, 20, 0),
      share: numbers(NaN, 0.8, 0.5, 0.2, 0.2),
    },
  } as unknown as Columns<TreeRow>;

  test("box widths are proportional to time, the longest on the left", () => {
    const [lane] = flames(columns);
    if (!lane) throw new Error("no lane");
    const of = (metric: "cpu" | "device") =>
      Object.fromEntries(
        boxes(lane.root, metric).map((box) => [box.node.name, [box.from, box.to].map((n) => Math.round(n * 100))]),
      );
    expect(of("cpu")).toEqual({ L: [0, 100], a: [0, 80], b: [0, 50], c: [50, 70], d: [80, 100] });
    expect(of("device")).toEqual({ L: [0, 100], a: [0, 100], c: [0, 67], b: [67, 100] });
  });

  test("a focused node and its ancestors fill the width", () => {
    const [lane] = flames(columns);
    const root = lane?.root as FlameNode;
    const focus = nodeAt(root, ["a", "b"]);
    expect(pathOf(focus)).toEqual(["a", "b"]);
    expect(boxes(focus, "cpu").map((box) => `${box.node.name} ${box.depth} ${box.from} ${box.to}`)).toEqual([
      "L 0 0 1",
      "a 1 0 1",
      "b 2 0 1",
    ]);
    expect(nodeAt(root, ["a", "gone"]).name).toBe("a");
  });
});

test("steps are paired by order; without steps the complete traces are", () => {
  const step = (name: string, start_ns: number, wall_ns: number): StepsRow =>
    ({ name, start_ns, wall_ns }) as Partial<StepsRow> as StepsRow;
  const tracks = [{ start_ns: 5, end_ns: 90 }] as Partial<TracksRow>[] as TracksRow[];
  const a = { name: "A", tracks, steps: [step("one", 10, 20), step("two", 30, 25), step("three", 55, 5)] };
  const b = { name: "B", tracks, steps: [step("first", 100, 30), step("second", 130, 10)] };
  const pairs = pairsOf(a, b);
  expect(pairs.map((pair) => [pair.a.name, pair.b.name])).toEqual([
    ["one", "first"],
    ["two", "second"],
  ]);
  const range = rangeOfPair(pairs[0] as Pair);
  expect(range.start).toBeCloseTo(-0.6);
  expect(range.end).toBeCloseTo(30.6);
  expect(pairsOf(a, { ...b, steps: [] })).toEqual([
    { a: { name: "A", start: 0, end: 90 }, b: { name: "B", start: 0, end: 90 } },
  ]);
});
