// A flame graph of two runs: the call tree of a step with the times of both, and its boxes with their colours.

import type { Columns, DiffTreeRow } from "kinetoscope/remote";
import { NARROWEST } from "./flame";

/** The times of the first run and of the second, in ns per step. */
export interface Times {
  a: number;
  b: number;
}

export type Side = keyof Times;
export type DiffMetric = "host" | "device";

export interface DiffNode {
  name: string;
  kind: string;
  depth: number;
  parent: DiffNode | undefined;
  children: DiffNode[];
  host: Times;
  device: Times;
  /** Whether the change of what has this name is more than noise. */
  significant: boolean | null;
  /** Whether a change of it, or of something inside, is more than noise, or may be. */
  changed: Record<DiffMetric, boolean>;
}

const NO_TEXT = 0xffffffff;

/** Returns the tree of the rows of `diff-tree`, which are in depth-first order; `undefined` without rows. */
export function diffTree({ length, columns }: Columns<DiffTreeRow>): DiffNode | undefined {
  const path: DiffNode[] = [];
  const all: DiffNode[] = [];
  const text = ({ codes, dictionary }: typeof columns.name, at: number): string => {
    const code = codes[at] as number;
    return code === NO_TEXT ? "" : (dictionary[code] as string);
  };
  for (let at = 0; at < length; at += 1) {
    const depth = columns.depth[at] as number;
    const parent = path[depth - 1];
    const node: DiffNode = {
      name: text(columns.name, at),
      kind: text(columns.kind, at),
      depth,
      parent,
      children: [],
      host: { a: columns.a_ns[at] as number, b: columns.b_ns[at] as number },
      device: { a: columns.device_a_ns[at] as number, b: columns.device_b_ns[at] as number },
      significant: columns.significant[at] === 2 ? null : columns.significant[at] === 1,
      changed: { host: false, device: false },
    };
    parent?.children.push(node);
    path[depth] = node;
    all.push(node);
  }
  markChanged(all);
  return path[0];
}

/** Marks what changed, from the children to their parents, which come first. */
function markChanged(all: readonly DiffNode[]): void {
  for (const node of all.slice().reverse())
    for (const metric of ["host", "device"] as const) {
      const { a, b } = node[metric];
      node.changed[metric] ||= node.significant !== false && a !== b;
      if (node.parent) node.parent.changed[metric] ||= node.changed[metric];
    }
}

export interface DiffBox {
  node: DiffNode;
  name: string;
  from: number;
  to: number;
  depth: number;
  faded: boolean;
  /** The shade: from -1, only in the first run, to 1, only in the second. 0 where the change is noise. */
  shade: number;
}

/** The change of a time between -1 and 1: as a share of the larger of both. */
export function shadeOf({ a, b }: Times): number {
  return a === b ? 0 : (b - a) / Math.max(a, b);
}

/**
 * Returns the boxes with the widths of one side. Ancestors of `focus` have the full width; `focus` and its descendants are
 * drawn to scale, the longest of both runs on the left, so that a place is at the same position among its siblings for both sides.
 */
export function diffBoxes(focus: DiffNode, metric: DiffMetric, side: Side): DiffBox[] {
  const box = (node: DiffNode, from: number, to: number): DiffBox => ({
    node,
    name: node.name,
    from,
    to,
    depth: node.depth,
    faded: node.depth < focus.depth,
    shade: node.changed[metric] ? shadeOf(node[metric]) : 0,
  });
  const found: DiffBox[] = [];
  for (let above = focus.parent; above; above = above.parent) found.unshift(box(above, 0, 1));
  const whole = focus[metric][side];
  if (whole <= 0) return found;
  const open = [box(focus, 0, 1)];
  for (let at = open.pop(); at; at = open.pop()) {
    found.push(at);
    let { from } = at;
    const size = (node: DiffNode): number => Math.max(node[metric].a, node[metric].b);
    for (const child of at.node.children.slice().sort((x, y) => size(y) - size(x))) {
      const wide = child[metric][side] / whole;
      if (wide >= NARROWEST) open.push(box(child, from, Math.min(from + wide, at.to)));
      from += wide;
    }
  }
  return found;
}
