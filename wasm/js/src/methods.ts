// The methods of traces that answer queries.

import { QUERIES, type Queries } from "./queries.js";

/** A query and the name of its method, which is that of the query in camel case. */
interface Method {
  name: string;
  query: keyof Queries;
  /** Whether it answers with one row rather than with a list. */
  isOneRow: boolean;
}

/** The method of every query. */
export const METHODS: readonly Method[] = Object.entries(QUERIES).map(([query, isOneRow]) => {
  const name = query.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return { name, query: query as keyof Queries, isOneRow };
});
