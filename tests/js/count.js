// A reporter for Node's test runner that prints skipped tests and counts in the form that `cargo xtask test` reads.

export default async function* count(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for await (const { type, data } of events) {
    if (data.details?.type === "suite") continue;
    if (type === "test:fail") counts.failed += 1;
    if (type !== "test:pass") continue;
    if (data.skip === undefined) counts.passed += 1;
    else {
      counts.skipped += 1;
      yield `SKIPPED ${data.name}: ${data.skip}\n`;
    }
  }
  yield `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
}
