// Values of the database as values of the page.

/** Returns a value of the database as a number, a boolean, a text or null. Only what a number cannot hold becomes a text. */
export function plain(value: unknown): string | number | boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === "number" || typeof value === "string" || typeof value === "boolean") return value;
  return JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? plain(member) : member));
}

/** Returns the integer of 128 bits whose words are these, divided by ten to the power of `scale`. */
export function decimal(words: Uint32Array, scale: number): bigint | number {
  const unsigned = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  const integer = BigInt.asIntN(32 * words.length, unsigned);
  return scale === 0 ? integer : Number(integer) / 10 ** scale;
}
