// The page's side of the protocol: histories.

import * as given from "./given.js";
import type { Source } from "./source.js";
import type { Trend, TrendOptions, TrendResult } from "./trend.js";
import { wireOf } from "./wire-source.js";
import { askOnce, type Workers } from "./workers.js";

export function createRemoteTrend(workers: Workers): Trend<Source> {
  /** Works like `trend` of the package, in a worker. */
  async function trend(source: Source, options: TrendOptions = {}): Promise<TrendResult> {
    const { signal } = given.options(options, ["signal"]);
    const [wire, transfer] = await wireOf(source, signal);
    const request = { do: "trend", source: wire } as const;
    return askOnce(workers, signal, (connection) => connection.send<TrendResult>(request, { transfer, signal }));
  }

  return { trend };
}
