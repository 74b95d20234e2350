// The views of the page.

import { VIEW_TEXTS } from "../strings";

export type View = keyof typeof VIEW_TEXTS;

/** The views, in the order of the navigation. */
export const VIEWS = Object.keys(VIEW_TEXTS) as View[];
