// The colours of the canvas drawings, read from the styles.

import { COLORS } from "../model/colors";
import { PHASE_BOXES } from "../model/phases";

/** The number of shades of a change: `--shade-0` and so on in the styles. */
export const SHADES = 9;

export interface Palette {
  background: string;
  raised: string;
  text: string;
  quiet: string;
  line: string;
  accent: string;
  selection: string;
  dimmed: string;
  boxes: string[];
  boxText: string;
  /** Those of phases; the last is for all other phases. */
  phases: string[];
  /** From much shorter to much longer. */
  shades: string[];
  arrow: string;
  curve: string;
  path: string;
}

export function palette(): Palette {
  const styles = getComputedStyle(document.documentElement);
  const color = (name: string): string => styles.getPropertyValue(name).trim();
  return {
    background: color("--background"),
    raised: color("--raised"),
    text: color("--text"),
    quiet: color("--quiet"),
    line: color("--line"),
    accent: color("--accent"),
    selection: color("--selection"),
    dimmed: color("--dimmed"),
    boxes: Array.from({ length: COLORS }, (_, at) => color(`--box-${at}`)),
    boxText: color("--box-text"),
    phases: [...PHASE_BOXES.map((at) => color(`--box-${at}`)), color("--c-other")],
    shades: Array.from({ length: SHADES }, (_, at) => color(`--shade-${at}`)),
    arrow: color("--arrow"),
    curve: color("--curve"),
    path: color("--path"),
  };
}
