// A Playwright reporter that prints skipped tests and counts in the form that `cargo xtask test` reads.

import type { FullConfig, Reporter, Suite } from "@playwright/test/reporter";

export default class Count implements Reporter {
  private all: Suite | undefined;

  onBegin(_config: FullConfig, all: Suite): void {
    this.all = all;
  }

  onEnd(): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const test of this.all?.allTests() ?? []) {
      const outcome = test.outcome();
      if (outcome === "skipped") {
        counts.skipped += 1;
        const reason = test.annotations.find(({ type }) => type === "skip")?.description ?? "no reason given";
        console.log(`SKIPPED ${test.title}: ${reason}`);
      } else if (outcome === "expected") counts.passed += 1;
      else counts.failed += 1;
    }
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}
