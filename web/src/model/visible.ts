// Texts in which every character is seen.

const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Cc}\u2028\u2029\ufff9-\ufffb]/u;
const ALL_HIDDEN = new RegExp(HIDDEN, "gu");

/** Whether a text has characters that are not seen, or that change the order of others. */
export const hasHidden = (text: string): boolean => HIDDEN.test(text);

/**
 * Writes characters that are not seen, or that change the order of others, as `\u{202e}`, as the tables of the command line do. Ends of
 * lines and tabs stay.
 */
export function visible(text: string): string {
  if (!HIDDEN.test(text)) return text;
  return text.replace(ALL_HIDDEN, (character) =>
    "\n\r\t".includes(character) ? character : `\\u{${(character.codePointAt(0) as number).toString(16)}}`,
  );
}
