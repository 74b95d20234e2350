// `check`: budgets of traces, independent of the platform. One trace is in memory at a time.

import { EngineBudgets } from "../generated/glue/engine.js";
import { checkOptions, sourcesOf, type CheckOptions } from "../options/compare.js";
import { KinetoscopeError, check as checkSignal, guarded, using } from "../base/errors.js";
import type { BudgetOutcome, BudgetRow, FindingCode } from "../generated/queries.js";
import type { Reader } from "./ranks.js";

/** Limits on a metric. */
export interface Limits {
  /** The largest value: a time (`"25 ms"`), a size (`"12 GiB"`) or a number. */
  max?: string | number | undefined;
  /** The largest increase against the base: a share (`"5 %"`), or an amount with its unit. */
  max_increase?: string | number | undefined;
  /** Whether an increase beyond noise against the base is a breach. */
  no_significant_increase?: boolean | undefined;
  /** Whether nothing of this name is not an error. */
  optional?: boolean | undefined;
}

/** Budgets: the same as in a file of `kinetoscope check`. Times are per step; `*` in a name is any characters. */
export interface Budgets {
  step?: Limits;
  device_busy?: Limits;
  device_idle?: Limits;
  communication?: Limits;
  launches?: Limits;
  recompilations?: Limits;
  operator?: Record<string, Limits>;
  range?: Record<string, Limits>;
  kernel?: Record<string, Limits>;
  idle?: Record<string, Limits>;
  memory?: Record<string, Limits>;
  findings?: { forbid: readonly FindingCode[] };
}

/** The outcome of `check`. */
export interface BudgetResult {
  /** `breach` if a limit does not hold; else `unfit` if a trace cannot decide one; else `pass`. */
  readonly outcome: BudgetOutcome;
  /** A row for each limit of each trace. */
  readonly rows: readonly BudgetRow[];
  /** The texts that `kinetoscope check` prints. */
  readonly json: string;
  readonly table: string;
  readonly markdown: string;
  readonly junit: string;
}

export type { CheckOptions } from "../options/compare.js";

export interface Check<S> {
  /**
   * Checks budgets of a trace, or of several.
   *
   * @throws {KinetoscopeError} if a source cannot be read, there is no budget, or a budget is invalid, is about a name that nothing has, or
   * needs a base (`bad_option`).
   */
  check(source: S | readonly S[], budgets: Budgets, options?: CheckOptions<S>): Promise<BudgetResult>;
}

export function createCheck<S>(reader: Reader<S>): Check<S> {
  async function check(
    source: S | readonly S[],
    budgets: Budgets,
    options: CheckOptions<S> = {},
  ): Promise<BudgetResult> {
    const { base = [], ...reading } = checkOptions(options);
    const sources = sourcesOf(source);
    if (sources.length === 0) throw new KinetoscopeError("empty", "no trace to check");
    checkSignal(reading.signal);
    await reader.ready();
    const engine = guarded(() => new EngineBudgets(budgets));
    const each = async (one: S, use: "addBase" | "check"): Promise<void> => {
      const input = await reader.input(one, reading.signal);
      const read = await reader.trace(input, reading);
      using(read.engine, (trace) => engine[use](trace, input.name));
    };
    try {
      for (const one of sourcesOf(base)) await each(one, "addBase");
      for (const one of sources) await each(one, "check");
      const [json, table, markdown, junit] = ["json", "table", "md", "junit"].map((format) =>
        guarded(() => engine.text(format)),
      ) as [string, string, string, string];
      const rows = guarded(() => engine.rows()) as BudgetRow[];
      return { outcome: engine.outcome() as BudgetOutcome, rows, json, table, markdown, junit };
    } finally {
      engine.free();
    }
  }

  return { check };
}
