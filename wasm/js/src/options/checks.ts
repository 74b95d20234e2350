// Checks what callers pass: values of other types than declared must not reach the engine. A page whose traces are in a
// worker has no engine, so this file imports none.

import { KinetoscopeError } from "../base/errors.js";
import { RULES, type Joined, type OpenOptions, type ReadingRules } from "./open.js";

function refused(what: string, expected: string, value: unknown): KinetoscopeError {
  const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
  return new KinetoscopeError("bad_option", `${what}: ${shown} is not ${expected}`);
}

export function text(what: string, value: unknown): string {
  if (typeof value !== "string") throw refused(what, "a string", value);
  return value;
}

export function texts(what: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw refused(what, "an array of strings", value);
  return value.map((element) => text(what, element));
}

/** A number of something, from 0. */
export function index(what: string, value: unknown): number {
  const isIndex = typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
  if (!isIndex) throw refused(what, "a whole number from 0", value);
  return value;
}

/** The most pixels that are drawn at once. */
const MOST_PIXELS = 1 << 16;

export function pixels(value: unknown): number {
  const number = index("pixels", value);
  if (number === 0 || number > MOST_PIXELS) throw refused("pixels", `a number from 1 to ${MOST_PIXELS}`, value);
  return number;
}

/** A time in ns. */
export function time(what: string, value: unknown): number {
  if (typeof value !== "number" || Number.isNaN(value)) throw refused(what, "a number of nanoseconds", value);
  return value;
}

/** Two times in ns, the earlier one first. */
export function period(startNs: unknown, endNs: unknown): void {
  const [start, end] = [time("startNs", startNs), time("endNs", endNs)];
  if (end < start) throw refused("endNs", `at or after ${start}`, end);
}

/** Options; with `known`, only these. Those that many functions have are of the right type. */
export function options<T extends object>(value: T, known?: readonly (keyof T & string)[]): T {
  if (typeof value !== "object" || value === null) throw refused("options", "an object", value);
  const { signal, onProgress } = value as { signal?: Partial<AbortSignal> | null; onProgress?: unknown };
  if (signal !== undefined && typeof signal?.addEventListener !== "function") {
    throw refused("signal", "an AbortSignal", signal);
  }
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw refused("onProgress", "a function", onProgress);
  }
  const unknown = Object.keys(value).find((name) => known && !(known as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new KinetoscopeError("bad_option", `unknown option ${unknown}; the options are: ${known?.join(", ")}`);
  }
  return value;
}

/** The names of the options of `open`. */
const LITE_OPTIONS = ["signal", "onProgress", "memoryLimit", ...RULES] as const;
const OPEN_OPTIONS = [...LITE_OPTIONS, "threads", "executionTrace", "captures", "provenance"] as const;

/** The options of `open` of `kinetoscope/lite`. */
export function liteOptions(value: Omit<OpenOptions, Joined | "threads">): void {
  openOptions(options(value, LITE_OPTIONS));
}

/** The options of `open`. */
export function openOptions<S>(value: OpenOptions<S>): OpenOptions<S> {
  const { threads, captures, provenance } = windowOptions(options(value, OPEN_OPTIONS));
  if (threads !== undefined) index("threads", threads);
  for (const [name, sources] of Object.entries({ captures, provenance })) {
    if (sources !== undefined && !Array.isArray(sources)) throw refused(name, "an array of sources", sources);
  }
  return value;
}

/** The options of reading that windows have as well. */
export function windowOptions<O extends ReadingRules & Pick<OpenOptions, "memoryLimit">>(value: O): O {
  const { memoryLimit, torchVersion, kernelRules, stepRules, stepsFrom } = value;
  if (memoryLimit !== undefined && !(typeof memoryLimit === "number" && memoryLimit > 0)) {
    throw refused("memoryLimit", "a number of bytes", memoryLimit);
  }
  if (torchVersion !== undefined) text("torchVersion", torchVersion);
  if (kernelRules !== undefined) text("kernelRules", kernelRules);
  if (stepRules !== undefined) text("stepRules", stepRules);
  if (stepsFrom !== undefined && !(stepsFrom instanceof RegExp)) throw refused("stepsFrom", "a RegExp", stepsFrom);
  return value;
}
