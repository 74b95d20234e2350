// JSON whose integers have more digits than a number.

/** Strings, and numbers of at least 16 digits. Only these can be integers above 2^53. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/** Parses JSON. An integer that a number cannot represent becomes the text of its digits. */
export function exact(json: string): unknown {
  const quoted = (token: string): string =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
  return JSON.parse(json.replace(TOKENS, quoted));
}
