// The methods of traces that answer queries.

import { QUERIES, type Queries } from "../generated/queries.js";

/** A query and the name of its method: that of the query in camel case, with an exception. */
interface Method {
  name: string;
  query: keyof Queries;
  /** Whether it answers with one row rather than with a list. */
  isOneRow: boolean;
}

/** Queries whose methods have other names. `check` is the function that checks budgets. */
const NAMES: Partial<Record<keyof Queries, string>> = { check: "dataQuality" };

/** The method of every query. */
export const METHODS: readonly Method[] = Object.entries(QUERIES).map(([query, isOneRow]) => {
  const name = NAMES[query as keyof Queries] ?? query.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return { name, query: query as keyof Queries, isOneRow };
});
