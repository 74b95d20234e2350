// Shortens the names of kernels and operators.

/** Shortens a name for a box: removes `void`, namespaces, template arguments and parameters. */
export function shortName(name: string): string {
  const plain = name.replace(/^void /, "").replaceAll("(anonymous namespace)::", "");
  // The template argument of a CUTLASS kernel describes its operation.
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
