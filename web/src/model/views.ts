// The views of the page.

/** The views, in the order of the navigation. */
export const VIEWS = [
  "overview",
  "timeline",
  "operators",
  "kernels",
  "flame",
  "memory",
  "modules",
  "steps",
  "compare",
  "findings",
] as const;

export type View = (typeof VIEWS)[number];
