// `diff`, independent of the platform. One trace is in memory at a time.

import { EngineComparison } from "../generated/glue/engine.js";
import { Comparison } from "./comparison.js";
import { check, guarded, using } from "../base/errors.js";
import { compareOptions, sidesOf, type CompareOptions } from "../options/compare.js";
import type { Progress } from "../options/open.js";
import type { Reader } from "./ranks.js";
import { bytesOr } from "../reading/small-file.js";

/** The first bytes of a profile, and of a file of summaries. */
const REDUCED = ["KPRF", "KSUM"];

export interface Diff<S> {
  /**
   * Compares two traces, or what their `profile()` returned, or two runs of several ranks given as arrays: each rank with the same rank of the other side.
   * Summaries are compared with summaries.
   *
   * @throws {KinetoscopeError} if a source cannot be read, no rank is on both sides, only one side is of summaries, or an option is invalid.
   */
  diff(base: S | readonly S[], changed: S | readonly S[], options?: CompareOptions): Promise<Comparison>;
}

export function createDiff<S>(reader: Reader<S>): Diff<S> {
  async function diff(
    base: S | readonly S[],
    changed: S | readonly S[],
    options: CompareOptions = {},
  ): Promise<Comparison> {
    const { signal, onProgress, memoryLimit, ...rules } = compareOptions(options);
    const sides = sidesOf(base, changed);
    const total = sides.length;
    check(signal);
    await reader.ready();
    const comparison = new EngineComparison();
    const sum = { bytes: 0, events: 0 };
    try {
      for (const [done, { source, isBase }] of sides.entries()) {
        const progress = ({ bytes, events }: Progress): void =>
          onProgress?.({ done, total, bytes: sum.bytes + bytes, events: sum.events + events });
        const input = await reader.input(source, signal);
        const from = await bytesOr(input, signal, ...REDUCED);
        if (from instanceof Uint8Array) {
          guarded(() => comparison.addReduced(isBase, from));
          sum.bytes += from.length;
        } else {
          const reading = { signal, memoryLimit, ...rules, onProgress: progress };
          const { engine, bytes } = await reader.trace(from, reading);
          sum.bytes += bytes;
          using(engine, (trace) => comparison.add(isBase, trace, input.name, total > 2));
        }
        onProgress?.({ done: done + 1, total, ...sum });
      }
      guarded(() => comparison.finish());
      return new Comparison(comparison);
    } catch (thrown) {
      comparison.free();
      throw thrown;
    }
  }

  return { diff };
}
