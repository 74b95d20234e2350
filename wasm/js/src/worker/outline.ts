// The page's side of the protocol: outlines, and the windows of them that are read.

import type { Connection } from "./connection.js";
import { check } from "../base/errors.js";
import * as checks from "../options/checks.js";
import { WorkerObject, type Abortable } from "./object.js";
import { OUTLINE_OPTIONS, WINDOW_OPTIONS, type OutlineOptions, type WindowOptions } from "../options/outline.js";
import type { Opened, OpenedOutline } from "./protocol.js";
import type { OutlineRow, OutlineTrack } from "../generated/queries.js";
import { RemoteTrace } from "./trace.js";
import type { Source } from "../base/source.js";
import type { Diagnostic, TilesOptions } from "../client/trace.js";
import { wireOf } from "./posted-source.js";
import { withWorker, type Workers } from "./workers.js";

/** An outline that a worker holds: an `Outline` whose methods return promises. */
export class RemoteOutline extends WorkerObject {
  readonly name: string;
  /** The number of events. */
  readonly length: number;
  /** The earliest start and the latest end of the events, in ns from the start of the recording. */
  readonly time: readonly [number, number];

  /** @internal */
  constructor(connection: Connection, opened: OpenedOutline) {
    super(connection, opened.outline, opened.name);
    this.name = opened.name;
    this.length = opened.length;
    this.time = opened.time;
  }

  rows(limit?: number, options?: Abortable): Promise<OutlineRow[]> {
    return this.ask("rows", limit, options);
  }

  json(limit?: number, options?: Abortable): Promise<string> {
    return this.ask("json", limit, options);
  }

  tracks(options?: Abortable): Promise<OutlineTrack[]> {
    return this.ask("tracks", options);
  }

  diagnostics(options?: Abortable): Promise<Diagnostic[]> {
    return this.ask("diagnostics", options);
  }

  density(options: TilesOptions & Abortable): Promise<Float32Array> {
    return this.ask("density", options);
  }

  eventsWithin(startNs: number, endNs: number, options?: Abortable): Promise<number> {
    return this.ask("eventsWithin", startNs, endNs, options);
  }

  /** Works like `window` of an `Outline`. The same worker holds the trace. */
  async window(startNs: number, endNs: number, options: WindowOptions = {}): Promise<RemoteTrace> {
    const { signal, onProgress, ...rest } = checks.options(options, WINDOW_OPTIONS);
    check(signal);
    const wantsProgress = onProgress !== undefined;
    const opened = await this.send<Opened>(
      (outline) => ({ do: "window", outline, time: [startNs, endNs], options: rest, wantsProgress }),
      { onProgress, signal },
    );
    return this.make((connection) => new RemoteTrace(connection, opened));
  }
}

export interface RemoteOutlines {
  /** Works like `outline` of the package, in its own worker; aborting terminates the worker. */
  outline(source: Source, options?: OutlineOptions): Promise<RemoteOutline>;
}

export function createRemoteOutlines(workers: Workers): RemoteOutlines {
  async function outline(source: Source, options: OutlineOptions = {}): Promise<RemoteOutline> {
    const { signal, onProgress, threads } = checks.options(options, OUTLINE_OPTIONS);
    const [wire, transfer] = await wireOf(source, signal);
    return withWorker(workers, signal, async (connection) => {
      const request = { do: "outline", source: wire, threads, wantsProgress: onProgress !== undefined } as const;
      return new RemoteOutline(
        connection,
        await connection.send<OpenedOutline>(request, { transfer, onProgress, signal }),
      );
    });
  }

  return { outline };
}
