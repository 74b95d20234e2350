// The matches of a search on the timeline, and the current match.

import { batch, signal } from "@preact/signals";
import type { RemoteTrace, Spans } from "kinetoscope/remote";
import { search } from "../../model/search";

export interface Found {
  names: ReadonlySet<string>;
  spans: Spans;
}

const noSpans: Spans = {
  length: 0,
  event: new Uint32Array(),
  track: new Uint32Array(),
  depth: new Uint32Array(),
  start_ns: new Float64Array(),
  end_ns: new Float64Array(),
  name: new Uint32Array(),
  names: [],
};

/** Returns what highlights the spans of a name, without their places. */
export const namedOnly = (name: string): Found => ({ names: new Set([name]), spans: noSpans });

const names = new WeakMap<RemoteTrace, Promise<string[]>>();

/** Returns the names of all spans. */
function namesOf(trace: RemoteTrace): Promise<string[]> {
  let known = names.get(trace);
  if (!known) {
    known = trace.columns("names").then(({ columns }) => [...new Set(columns.name.dictionary)]);
    names.set(trace, known);
  }
  return known;
}

export class Matches {
  readonly found = signal<Found | undefined>(undefined);
  readonly searching = signal(false);
  /** The index of the current match; -1 if there is none. */
  readonly at = signal(-1);
  private text = "";
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly trace: RemoteTrace) {}

  /** Searches for spans with matching names. A later search replaces an earlier one. */
  search(text: string): void {
    this.running = this.find(text);
  }

  private async find(text: string): Promise<void> {
    this.text = text;
    if (text.trim() === "") {
      this.found.value = undefined;
      this.searching.value = false;
      return;
    }
    this.searching.value = true;
    const wanted = search(text);
    const names = (await namesOf(this.trace)).filter((name) => wanted.matches(name));
    const spans = names.length > 0 ? await this.trace.find(names) : noSpans;
    if (this.text !== text) return;
    batch(() => {
      this.searching.value = false;
      this.at.value = -1;
      this.found.value = { names: new Set(names), spans };
    });
  }

  /**
   * Moves to the next or previous match and returns its event. The first move starts at the time `start`. Waits for a
   * running search.
   */
  async go(by: 1 | -1, start: number): Promise<number | undefined> {
    await this.running;
    const spans = this.found.peek()?.spans;
    if (!spans || spans.length === 0) return undefined;
    let at = this.at.peek() + by;
    if (this.at.peek() < 0) {
      const first = spans.start_ns.findIndex((begins) => begins >= start);
      at = by > 0 ? Math.max(first, 0) : (first < 0 ? spans.length : first) - 1;
    }
    at = (at + spans.length) % spans.length;
    this.at.value = at;
    return spans.event[at];
  }
}
