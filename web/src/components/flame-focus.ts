// The focused node and the search of a flame graph, which are in the address.

import { useMemo } from "preact/hooks";
import { nodeAt, pathOf, SEPARATOR, type InTree } from "../model/flame";
import { search } from "../model/search";
import { param, setParams } from "../state/route";

/** Returns the node of the path in the address, a function that changes it, and whether a name matches the search. */
export function useFocus<Node extends InTree<Node>>(root: Node) {
  const path = param("path");
  const focus = useMemo(() => nodeAt(root, path ? path.split(SEPARATOR) : []), [root, path]);
  const text = param("q") ?? "";
  const matches = useMemo(() => (text ? search(text).matches : undefined), [text]);
  const zoom = (node: Node): void => setParams({ path: pathOf(node).join(SEPARATOR) }, "step");
  return { focus, matches, zoom };
}
