// JSON whose integers have more digits than a number.

/** Strings and numbers. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/** Parses JSON. An integer that a number cannot represent becomes the text of its digits. */
export function exact(json: string): unknown {
  const quoted = (token: string): string =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
  return JSON.parse(json.replace(TOKENS, quoted));
}
