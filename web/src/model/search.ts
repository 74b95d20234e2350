// What a text in a search box means: a part of a name in any case, or a regular expression between slashes.

export interface Search {
  matches(text: string): boolean;
  /** Why the text is no regular expression. */
  error?: string;
}

const EVERYTHING: Search = { matches: () => true };

/** `/re/` and `/re/i` are regular expressions; anything else is looked for as it is. */
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
