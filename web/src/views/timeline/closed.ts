// The processes and tracks that are collapsed, as ids in a parameter of the address.

import { paramSignal, setParams } from "../../state/route";

/** Returns the ids of a parameter. */
export const closedIn = (ids: string): Set<string> => new Set(ids.split(",").filter((id) => id !== ""));

/** Expands or collapses a process or a track. */
export function toggleIn(name: string, id: string): void {
  const closed = closedIn(paramSignal(name).peek());
  if (!closed.delete(id)) closed.add(id);
  setParams({ [name]: [...closed].join(",") });
}
