// `trend`: the history of a program, independent of the platform.

import { EngineTrend } from "../generated/glue/engine.js";
import { KinetoscopeError, check, guarded, using } from "../base/errors.js";
import * as checks from "../options/checks.js";
import type { TrendRow, TrendRun } from "../generated/queries.js";
import type { Reader } from "./ranks.js";
import { collect } from "../reading/small-file.js";

/** Options of `trend`. */
export interface TrendOptions {
  /** Aborts reading. */
  signal?: AbortSignal | undefined;
}

/** The answer of `trend`. */
export interface TrendResult {
  /** The runs, the oldest first. */
  readonly runs: readonly TrendRun[];
  /** A row for each change, the latest first, and then one for each metric. */
  readonly rows: readonly TrendRow[];
  /** The texts that `kinetoscope trend` prints. */
  readonly json: string;
  readonly table: string;
}

export interface Trend<S> {
  /**
   * Reads a history that `kinetoscope check --record` wrote, and finds where its metrics changed.
   *
   * @throws {KinetoscopeError} if the source cannot be read, has no line (`empty`), or a line is none of a history
   * (`bad_option`).
   */
  trend(source: S, options?: TrendOptions): Promise<TrendResult>;
}

export function createTrend<S>(reader: Reader<S>): Trend<S> {
  async function trend(source: S, options: TrendOptions = {}): Promise<TrendResult> {
    const { signal } = checks.options(options, ["signal"]);
    check(signal);
    await reader.ready();
    const input = await reader.input(source, signal);
    const lines = textOf(await collect(input.chunks(0, signal)), input.name);
    check(signal);
    try {
      return using(
        guarded(() => new EngineTrend(lines)),
        (engine) => ({
          runs: engine.runs() as TrendRun[],
          rows: engine.rows() as TrendRow[],
          json: engine.json(),
          table: engine.table(),
        }),
      );
    } catch (thrown) {
      if (thrown instanceof KinetoscopeError) thrown.source ??= input.name;
      throw thrown;
    }
  }

  return { trend };
}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const error = new KinetoscopeError("bad_source", `${name}: this is not UTF-8`);
    error.source = name;
    throw error;
  }
}
