// A Vitest reporter that prints skipped tests and counts in the form that `cargo xtask test` reads.

import type { Reporter, TestModule } from "vitest/node";

export default class Count implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      // A file that cannot be loaded has no tests.
      if (module.state() === "failed" && module.children.size === 0) counts.failed += 1;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "skipped") {
          counts.skipped += 1;
          console.log(`SKIPPED ${test.fullName}: ${result.note ?? "no reason given"}`);
        } else if (result.state === "passed") counts.passed += 1;
        else counts.failed += 1;
      }
    }
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}
