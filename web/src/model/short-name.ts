// Long names, short.

/** A name as it fits into a box: without the parts that all names have. */
export function shortName(name: string): string {
  const plain = name.replace(/^void /, "").replaceAll("(anonymous namespace)::", "");
  // What a CUTLASS kernel does is in its parameter.
  const operation = /\bKernel2?<(\w{12,})/.exec(plain)?.[1];
  if (operation) return operation;
  const cut = /^[^<(]{8,}[<(]/.exec(plain);
  const last =
    cut && plain.includes("::")
      ? plain
          .slice(0, cut[0].length - 1)
          .split("::")
          .pop()
      : plain;
  return last || name;
}
