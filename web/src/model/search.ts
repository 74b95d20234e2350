// The syntax of search boxes: a case-insensitive part of a name, or a regular expression between slashes.

export interface Search {
  matches(text: string): boolean;
  /** Why the text is not a valid regular expression. */
  error?: string;
}

const EVERYTHING: Search = { matches: () => true };

/** Parses a search: `/re/` and `/re/i` are regular expressions, anything else is matched literally. */
export function search(text: string): Search {
  const wanted = text.trim();
  if (wanted === "") return EVERYTHING;
  const expression = /^\/(.+)\/([a-z]*)$/.exec(wanted);
  if (!expression) {
    const lower = wanted.toLowerCase();
    return { matches: (candidate) => candidate.toLowerCase().includes(lower) };
  }
  try {
    const pattern = new RegExp(expression[1] as string, (expression[2] as string).replace(/[gy]/g, ""));
    return { matches: (candidate) => pattern.test(candidate) };
  } catch (thrown) {
    return { matches: () => false, error: (thrown as Error).message };
  }
}
