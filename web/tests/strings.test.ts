// The page's English texts are in one file.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ATTRIBUTE = /\b(title|label|about|note|idle|placeholder|aria-label|data-hint|hint)(=|: )"[^"]*[A-Za-z]{2,}[^"]*"/;

const TEXT = />[^<>{}=;()&|?`]*[A-Za-z]{3,}[^<>{}=;()&|`]*<\/(p|h1|h2|h3|button|a|span|small|summary|To|option)>/;

test("components take their texts from strings.ts", () => {
  const folder = new URL("../src/", import.meta.url).pathname;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".tsx"));
  expect(files.length).toBeGreaterThan(20);
  const found = files.flatMap((name) =>
    readFileSync(folder + name, "utf8")
      .split("\n")
      .filter((line) => ATTRIBUTE.test(line) || TEXT.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
