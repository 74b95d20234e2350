// Tests of the model of the flame graph of two runs.

import { describe, expect, test } from "vitest";
import type { Columns, DiffTreeRow } from "kinetoscope/remote";
import { diffBoxes, diffTree, shadeOf, type DiffNode } from "../src/model/diff-flame";

/** Depth, name, whether it is more than noise, and the times on the host. */
type Place = [depth: number, name: string, significant: boolean | null, a: number, b: number];

function treeOf(places: readonly Place[]): DiffNode {
  const numbers = (of: (place: Place) => number): Float64Array => Float64Array.from(places, of);
  const nothing = numbers(() => 0);
  const names = places.map((place) => place[1]);
  const columns = {
    depth: numbers((place) => place[0]),
    name: { dictionary: names, codes: Uint32Array.from(names, (_, at) => at) },
    kind: { dictionary: ["operator"], codes: Uint32Array.from(names, () => 0) },
    significant: Uint8Array.from(places, (place) => (place[2] === null ? 2 : Number(place[2]))),
    a_ns: numbers((place) => place[3]),
    b_ns: numbers((place) => place[4]),
    device_a_ns: nothing,
    device_b_ns: nothing,
  };
  const root = diffTree({ length: places.length, columns } as unknown as Columns<DiffTreeRow>);
  if (!root) throw new Error("no rows");
  return root;
}

const root = treeOf([
  [0, "step", null, 100, 200],
  [1, "forward", false, 60, 60],
  [2, "mm", false, 40, 41],
  [1, "new", true, 0, 100],
  [1, "gone", true, 40, 0],
  [1, "backward", false, 0, 40],
  [2, "relu", true, 0, 30],
]);

const rounded = (share: number): number => Math.round(share * 1e6) / 1e6;

describe("the flame graph of two runs", () => {
  test("has the widths of one side", () => {
    const of = (side: "a" | "b") =>
      Object.fromEntries(
        diffBoxes(root, "host", side).map(({ name, from, to }) => [name, [rounded(from), rounded(to)]]),
      );
    expect(of("b")).toEqual({
      step: [0, 1],
      new: [0, 0.5],
      forward: [0.5, 0.8],
      mm: [0.5, 0.705],
      backward: [0.8, 1],
      relu: [0.8, 0.95],
    });
    expect(of("a")).toEqual({ step: [0, 1], forward: [0, 0.6], mm: [0, 0.4], gone: [0.6, 1] });
    expect(diffBoxes(root, "device", "a")).toEqual([]);
  });

  test("has no shade where all of a subtree is noise", () => {
    const shades = Object.fromEntries(
      [...diffBoxes(root, "host", "a"), ...diffBoxes(root, "host", "b")].map(({ name, shade }) => [name, shade]),
    );
    expect(shades).toEqual({ step: 0.5, forward: 0, mm: 0, new: 1, gone: -1, backward: 1, relu: 1 });
  });

  test("a focused place fills the width below its ancestors", () => {
    const [, backward] = root.children.filter(({ name }) => name === "backward" || name === "new");
    const found = diffBoxes(backward as DiffNode, "host", "b");
    expect(found.map(({ name, from, to, faded }) => [name, from, to, faded])).toEqual([
      ["step", 0, 1, true],
      ["backward", 0, 1, false],
      ["relu", 0, 0.75, false],
    ]);
  });

  test("a tree of any depth has shades", () => {
    const deep = treeOf(Array.from({ length: 20_000 }, (_, at): Place => [at, `f${at}`, at === 19_999, 10, 20]));
    const boxes = diffBoxes(deep, "host", "b");
    expect([boxes.length, boxes[0]?.shade]).toEqual([20_000, 0.5]);
  });

  test("a shade is the change as a share of the larger time", () => {
    expect([shadeOf({ a: 1, b: 2 }), shadeOf({ a: 2, b: 1 }), shadeOf({ a: 0, b: 0 })]).toEqual([0.5, -0.5, 0]);
  });
});
