// Saves an answer of the engine as a file with the same text that the command line prints.

import type { RemoteTrace, Queries } from "kinetoscope/remote";
import { PAGE_TEXTS } from "../strings";
import { save } from "./download";

const TYPES = { csv: "text/csv", json: "application/json" } as const;

export interface SaveProps<V extends keyof Queries> {
  trace: RemoteTrace;
  query: V;
  options?: Queries[V]["options"] | undefined;
}

/** Returns a file name without the extensions of traces. */
export function baseName(name: string): string {
  return name.replace(/(\.pt|\.trace|\.json|\.gz|\.zst|\.ktrace|\.pickle|\.pftrace|\.perfetto-trace)+$/, "");
}

/** Buttons that save all rows of a query. */
export function Save<V extends keyof Queries>({ trace, query, options }: SaveProps<V>) {
  const file = async (format: "csv" | "json"): Promise<void> =>
    save(`${baseName(trace.name)}.${query}.${format}`, TYPES[format], await trace[format](query, options));
  return (
    <>
      <button type="button" data-hint={PAGE_TEXTS.csvHint} onClick={() => void file("csv")}>
        {PAGE_TEXTS.csv}
      </button>
      <button type="button" data-hint={PAGE_TEXTS.jsonHint} onClick={() => void file("json")}>
        {PAGE_TEXTS.json}
      </button>
    </>
  );
}
