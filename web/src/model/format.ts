// Formats values with units, short enough for a table.

import type { ColumnKind } from "kinetoscope/columns";

const group = new Intl.NumberFormat("en-US");

/** Formats a number with about three significant digits. */
function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return group.format(Math.round(value));
  return value.toFixed(size >= 10 ? 1 : 2);
}

function scaled(value: number, step: number, units: readonly string[]): string {
  let at = 0;
  let size = value;
  while (Math.abs(size) >= step * 0.9995 && at < units.length - 1) {
    size /= step;
    at += 1;
  }
  return `${short(size)} ${units[at]}`;
}

/** Formats a duration in ns: `12.3 ms`. */
export function time(ns: number): string {
  return ns === 0 ? "0" : scaled(ns, 1000, ["ns", "µs", "ms", "s"]);
}

/** Formats round times on an axis: with one unit, and as many digits as their distance needs. */
export function timeTicks(ticks: readonly (number | null)[]): string[] {
  const times = ticks.filter((tick) => tick !== null);
  const largest = Math.max(0, ...times.map(Math.abs));
  const [unit, ns] =
    largest >= 1e9 ? ["s", 1e9] : largest >= 1e6 ? ["ms", 1e6] : largest >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const digits = Math.min(9, Math.max(0, ...times.map((tick) => decimals(tick / ns))));
  return ticks.map((tick) => (tick === null ? "" : tick === 0 ? "0" : `${(tick / ns).toFixed(digits)} ${unit}`));
}

/** The number of decimal places of a number, without rounding errors. */
const decimals = (value: number): number => (value.toPrecision(9).split(".")[1] ?? "").replace(/(0+|e.*)$/, "").length;

/** Formats a size: `1.50 GB`, with 1 GB = 1024³ bytes as in torch. */
export function bytes(count: number): string {
  return count === 0 ? "0" : scaled(count, 1024, ["B", "KB", "MB", "GB", "TB", "PB"]);
}

/** Formats a large number with an SI prefix: `1.20 T`. */
export function amount(value: number): string {
  return scaled(value, 1000, ["", "k", "M", "G", "T", "P", "E"]).trimEnd();
}

/** Formats a fraction as a percentage: `12.3%`. */
export function share(value: number): string {
  return `${(value * 100).toFixed(1)}%`;
}

/** Formats a count: `1,234`. */
export function count(value: number): string {
  return group.format(value);
}

/** Returns a word of an answer as text for a person. */
export function label(word: string): string {
  return word.replaceAll("_", " ");
}

/** Formats a value of a column. */
export function cell(kind: ColumnKind, value: unknown): string {
  if (value === null || value === undefined) return "–";
  switch (kind) {
    case "ns":
      return time(value as number);
    case "bytes":
      return bytes(value as number);
    case "share":
      return share(value as number);
    case "amount":
    case "rate":
      return amount(value as number);
    case "int":
      return count(value as number);
    case "float":
      return short(value as number);
    case "bool":
      return value ? "yes" : "no";
    case "unix_ns":
      return String(value);
    case "text":
      return value as string;
    case "json":
      return JSON.stringify(value);
  }
}

const UNITS: Partial<Record<ColumnKind, string>> = { ns: "ns", bytes: "bytes" };

/** Formats a value without rounding. */
export function exact(kind: ColumnKind, value: unknown): string {
  if (typeof value !== "number") return cell(kind, value);
  const unit = UNITS[kind];
  const number = Number.isInteger(value) ? group.format(value) : String(value);
  return unit ? `${number} ${unit}` : number;
}

/** Whether values of a kind are sorted as numbers. */
export function isNumeric(kind: ColumnKind): boolean {
  return kind !== "text" && kind !== "json" && kind !== "bool";
}
