// Runs the JavaScript examples of the READMEs and of the book.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../", import.meta.url));
const trace = `${root}tests/data/torch/kineto/transformer_training/trace.json.gz`;
let folder;

before(async () => {
  // The folder is below this one, so that Node finds the package.
  folder = await mkdtemp(fileURLToPath(new URL("./book-", import.meta.url)));
  for (const name of ["run.json.gz", "run.pt.trace.json.gz", "rank0.json.gz", "rank1.json.gz"])
    await copyFile(trace, `${folder}/${name}`);
  await writeFile(`${folder}/history.jsonl`, '{"schema":"kinetoscope.history/1","metrics":{"step":25000000}}\n');
});

after(() => rm(folder, { recursive: true }));

for (const page of ["README.md", "wasm/js/README.md", "docs/src/guides/embed.md"]) {
  test(`the examples of ${page} run`, async () => {
    const text = await readFile(root + page, "utf8");
    const examples = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
    assert.ok(examples.length > 0);
    for (const code of examples) {
      await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { cwd: folder });
    }
  });
}
