// Characters that are not seen, or that change the order of others, are shown by their code: a name cannot look like another one.

import { options, type VNode } from "preact";
import { visible } from "../model/visible";

/** The attributes that are read to people. */
const SPOKEN = ["title", "aria-label", "alt"] as const;

/** Passes every text that the page shows through `visible`. */
export function showHidden(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    // The vnode of a text has no type, and the text as its properties.
    const node = vnode as unknown as { type: VNode["type"] | null; props: unknown };
    if (node.type === null && typeof node.props === "string") node.props = visible(node.props);
    if (typeof node.type === "string") makeSpoken(node.props as Record<string, unknown>);
    before?.(vnode);
  };
}

function makeSpoken(props: Record<string, unknown>): void {
  for (const key of SPOKEN) {
    const text = props[key];
    if (typeof text === "string") props[key] = visible(text);
  }
}
