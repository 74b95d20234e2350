// How several traces are related: ranks of one run, or runs to compare.

export type Relation = "one" | "ranks" | "runs" | "unclear";

export interface Origin {
  name: string;
  /** From the trace's `distributedInfo`. */
  rank: number | null;
  worldSize: number | null;
}

/** Returns the rank in a file name: `rank3.json`, `rank-3.pt.trace.json.gz`, `worker_3`, `trace_r3`. */
export function rankOfName(name: string): number | undefined {
  const found = /(?:^|[^a-z])(?:rank|worker|gpu|r)[-_. ]?(\d+)(?!\d)/i.exec(name);
  return found ? Number(found[1]) : undefined;
}

/** Returns the rank of a trace from its metadata, else from its name. */
export function rankOf(origin: Origin): number | undefined {
  return origin.rank ?? rankOfName(origin.name);
}

/**
 * Returns `ranks` if all traces have different ranks and the same world size, `runs` if there are two traces with the
 * same rank or without ranks, and `unclear` otherwise.
 */
export function relationOf(origins: readonly Origin[]): Relation {
  if (origins.length < 2) return "one";
  const ranks = origins.map(rankOf);
  const known = ranks.filter((rank) => rank !== undefined);
  const worlds = new Set(origins.map((origin) => origin.worldSize));
  if (known.length === origins.length && new Set(known).size === known.length && worlds.size === 1) return "ranks";
  if (origins.length === 2 && (known.length === 0 || known[0] === known[1])) return "runs";
  return "unclear";
}
