// Characters that are not seen are written by their codes.

import { expect, test } from "vitest";
import { visible } from "../src/model/visible";

test("hidden characters are written by their codes", () => {
  expect(visible("gpj.\u202eexe")).toBe("gpj.\\u{202e}exe");
  expect(visible("a\u200bb\u001b]0;x\u0007\u{e0061}\ufeff")).toBe("a\\u{200b}b\\u{1b}]0;x\\u{7}\\u{e0061}\\u{feff}");
  expect(visible("\u2066a\u2069\u2028\u00ad\ufffa")).toBe("\\u{2066}a\\u{2069}\\u{2028}\\u{ad}\\u{fffa}");
});

test("what is seen stays", () => {
  for (const text of ["", "aten::mm", "überall ≥ 5 µs · 日本語 שלום", "a\n\tb\r\n", "😀"])
    expect(visible(text)).toBe(text);
});
