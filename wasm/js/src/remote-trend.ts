// The page's side of the protocol: histories. The worker ends when it has answered.

import { withWorker, type Spawn } from "./connection.js";
import { KinetoscopeError } from "./errors.js";
import * as given from "./given.js";
import type { Source } from "./source.js";
import type { Trend, TrendOptions, TrendResult } from "./trend.js";
import { wireOf } from "./wire-source.js";

export function createRemoteTrend(spawn: Spawn): Trend<Source> {
  /** Works like `trend` of the package, in a worker of its own. */
  async function trend(source: Source, options: TrendOptions = {}): Promise<TrendResult> {
    const { signal } = given.options(options, ["signal"]);
    const [wire, transfer] = await wireOf(source, signal);
    return withWorker(spawn, signal, async (connection) => {
      const result = await connection.send<TrendResult>({ do: "trend", source: wire }, { transfer });
      connection.end(new KinetoscopeError("disposed", "the trend was returned"));
      return result;
    });
  }

  return { trend };
}
