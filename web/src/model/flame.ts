// Flame graphs: call trees from the rows of `tree`, and their boxes.

import type { Columns, SamplesRow, TreeRow } from "kinetoscope/remote";

export interface FlameNode {
  name: string;
  depth: number;
  parent: FlameNode | undefined;
  children: FlameNode[];
  count: number;
  total: number;
  self: number;
  deviceTotal: number;
  deviceSelf: number;
}

export interface FlameLane {
  name: string;
  /** Represents the lane; its children are the outermost spans. */
  root: FlameNode;
}

export type Metric = "cpu" | "device";

/** Separates the names of a path in an address. */
export const SEPARATOR = "\u001f";

const NONE = 0xffffffff;

/** Returns the trees of all lanes. The rows are in depth-first order, after a row for the lane itself. */
export function flames({ length, columns }: Columns<TreeRow>): FlameLane[] {
  const lanes: FlameLane[] = [];
  let path: FlameNode[] = [];
  for (let at = 0; at < length; at += 1) {
    const code = columns.name.codes[at] as number;
    const depth = columns.depth[at] as number;
    const isLane = code === NONE;
    const parent = isLane ? undefined : path[depth];
    const node: FlameNode = {
      name: isLane
        ? (columns.lane.dictionary[columns.lane.codes[at] as number] as string)
        : (columns.name.dictionary[code] as string),
      depth: isLane ? 0 : depth + 1,
      parent,
      children: [],
      count: columns.count[at] as number,
      total: columns.total_ns[at] as number,
      self: isLane ? 0 : (columns.self_ns[at] as number),
      deviceTotal: columns.device_total_ns[at] as number,
      deviceSelf: columns.device_self_ns[at] as number,
    };
    if (isLane) {
      lanes.push({ name: node.name, root: node });
      path = [node];
    } else {
      parent?.children.push(node);
      path[depth + 1] = node;
    }
  }
  return lanes;
}

/** Returns the tree of the rows of `samples` by `tree`, whose times are numbers of samples. */
export function sampled(name: string, rows: readonly SamplesRow[]): FlameNode {
  const node = (of: string, parent: FlameNode | undefined, total: number, self: number): FlameNode => {
    const depth = parent ? parent.depth + 1 : 0;
    return { name: of, depth, parent, children: [], count: total, total, self, deviceTotal: 0, deviceSelf: 0 };
  };
  const root = node(name, undefined, 0, 0);
  const path = [root];
  for (const row of rows) {
    const depth = row.depth ?? 0;
    const parent = path[depth] ?? root;
    const child = node(row.name, parent, row.samples, row.own);
    parent.children.push(child);
    path[depth + 1] = child;
    if (depth === 0) root.total += row.samples;
  }
  return root;
}

export function metricOf(node: FlameNode, metric: Metric): number {
  return metric === "cpu" ? node.total : node.deviceTotal;
}

export interface FlameBox {
  node: FlameNode;
  /** Fractions of the width. */
  from: number;
  to: number;
  depth: number;
}

/** Boxes narrower than this fraction of the width are omitted: no screen shows them. */
export const NARROWEST = 1 / 4000;

/**
 * Returns the boxes of a tree in left-heavy order: the longest first. Ancestors of `focus` have the full width; `focus`
 * and its descendants are drawn to scale.
 */
export function boxes(focus: FlameNode, metric: Metric): FlameBox[] {
  const found: FlameBox[] = [];
  for (let above = focus.parent; above; above = above.parent)
    found.unshift({ node: above, from: 0, to: 1, depth: above.depth });
  const whole = metricOf(focus, metric);
  if (whole <= 0) return found;
  const open: FlameBox[] = [{ node: focus, from: 0, to: 1, depth: focus.depth }];
  for (let box = open.pop(); box; box = open.pop()) {
    found.push(box);
    let at = box.from;
    const children =
      metric === "cpu" ? box.node.children : box.node.children.slice().sort((a, b) => b.deviceTotal - a.deviceTotal);
    for (const child of children) {
      const wide = metricOf(child, metric) / whole;
      if (wide >= NARROWEST) open.push({ node: child, from: at, to: Math.min(at + wide, box.to), depth: child.depth });
      at += wide;
    }
  }
  return found;
}

/** A node of any tree of calls. */
export interface InTree<Node> {
  name: string;
  parent: Node | undefined;
  children: Node[];
}

/** Returns the names from the root to a node, without the root. */
export function pathOf<Node extends InTree<Node>>(node: Node): string[] {
  const names: string[] = [];
  for (let at: Node | undefined = node; at?.parent; at = at.parent) names.unshift(at.name);
  return names;
}

/** Returns the node at a path, or the last existing node on the path. */
export function nodeAt<Node extends InTree<Node>>(root: Node, path: readonly string[]): Node {
  let node = root;
  for (const name of path) {
    const next = node.children.find((child) => child.name === name);
    if (!next) return node;
    node = next;
  }
  return node;
}
