// The page's side of the protocol: histories.

import * as checks from "../options/checks.js";
import type { Source } from "../base/source.js";
import type { Trend, TrendOptions, TrendResult } from "../client/trend.js";
import { wireOf } from "./posted-source.js";
import { askOnce, type Workers } from "./workers.js";

export function createRemoteTrend(workers: Workers): Trend<Source> {
  /** Works like `trend` of the package, in a worker. */
  async function trend(source: Source, options: TrendOptions = {}): Promise<TrendResult> {
    const { signal } = checks.options(options, ["signal"]);
    const [wire, transfer] = await wireOf(source, signal);
    const request = { do: "trend", source: wire } as const;
    return askOnce(workers, signal, (connection) => connection.send<TrendResult>(request, { transfer, signal }));
  }

  return { trend };
}
