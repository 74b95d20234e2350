// `open` of `kinetoscope/lite`, independent of the platform.

import { Reading } from "../generated/glue/lite.js";
import { liteOptions } from "../options/checks.js";
import { LiteTrace } from "./lite-trace.js";
import { inputOf, openEach, type Platform } from "../reading/open.js";
import type { Joined, OpenOptions } from "../options/open.js";
import { read } from "../reading/read.js";

/** Options of `open`. */
export type LiteOptions = Omit<OpenOptions, Joined | "threads">;

export interface LiteClient<S> {
  /**
   * Reads a trace. An array of sources gives an array of traces in the same order.
   *
   * @throws {KinetoscopeError} if the source cannot be read or is not a trace. A damaged or truncated trace is not an
   * error: see `diagnostics`.
   */
  open(source: S, options?: LiteOptions): Promise<LiteTrace>;
  open(sources: readonly S[], options?: LiteOptions): Promise<LiteTrace[]>;
}

export function createLiteClient<S>(platform: Platform<S>): LiteClient<S> {
  async function one(source: S, options: LiteOptions): Promise<LiteTrace> {
    const from = await inputOf(platform, source, options.signal);
    const { engine } = await read((limit) => new Reading(limit), from, platform, options);
    return new LiteTrace(engine, from.name);
  }

  function open(source: S, options?: LiteOptions): Promise<LiteTrace>;
  function open(sources: readonly S[], options?: LiteOptions): Promise<LiteTrace[]>;
  async function open(source: S | readonly S[], options: LiteOptions = {}): Promise<LiteTrace | LiteTrace[]> {
    liteOptions(options);
    return openEach(source, (each) => one(each, options));
  }
  return { open };
}
