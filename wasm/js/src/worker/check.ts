// The page's side of the protocol: budgets, and the repair of a trace.

import type { BudgetResult, Budgets, Check, CheckOptions } from "../client/budgets.js";
import { checkOptions, sourcesOf } from "../options/compare.js";
import * as checks from "../options/checks.js";
import type { Source } from "../base/source.js";
import { wireOf } from "./posted-source.js";
import { askOnce, streamOnce, type Workers } from "./workers.js";

export interface RemoteRepair {
  /** Works like `repair` of the package, in a worker. */
  repair(source: Source, options?: { signal?: AbortSignal | undefined }): Promise<ReadableStream<Uint8Array>>;
}

export function createRemoteCheck(workers: Workers): Check<Source> & RemoteRepair {
  /** Works like `check` of the package, in a worker. */
  async function check(
    source: Source | readonly Source[],
    budgets: Budgets,
    options: CheckOptions<Source> = {},
  ): Promise<BudgetResult> {
    const { base = [], signal, ...reading } = checkOptions(options);
    const post = (sources: readonly Source[]) => Promise.all(sources.map((one) => wireOf(one, signal)));
    const [checked, bases] = [await post(sourcesOf(source)), await post(sourcesOf(base))];
    const transfer = [...checked, ...bases].flatMap(([, transfer]) => transfer);
    const [sources, others] = [checked, bases].map((list) => list.map(([wire]) => wire)) as [[], []];
    const request = { do: "check", sources, bases: others, budgets, options: reading } as const;
    return askOnce(workers, signal, (connection) => connection.send<BudgetResult>(request, { transfer, signal }));
  }

  async function repair(
    source: Source,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const { signal } = checks.options(options, ["signal"]);
    const [wire, transfer] = await wireOf(source, signal);
    const request = { do: "repair", source: wire } as const;
    return streamOnce(workers, signal, (connection) => connection.send<number>(request, { transfer, signal }));
  }

  return { check, repair };
}
