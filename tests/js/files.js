// The traces that the tests read, and the native binary to compare with.

import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const data = `${root}tests/data`;
const native = `${root}target/release/kinetoscope`;

/** Every file below a folder, sorted. */
export function filesBelow(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .sort();
}

const isTrace = (path) => /\.json(\.gz|\.zst)?$/.test(path);

/** Our own traces: fixtures of every sickness, what is refused, snapshots, records, and recordings of the real PyTorch. */
export function fixtures() {
  const folders = ["healthy", "sick", "refused", "fuzz", "snapshots"].map((folder) => `${data}/${folder}`);
  const recorded = filesBelow(`${data}/torch`).filter((path) => /\/(trace|records)\.json(\.gz)?$/.test(path));
  return [...folders.flatMap(filesBelow), ...recorded];
}

/** Real traces of other people, which lie beside the repository; an empty list, and a loud word, where they do not. */
export function corpus() {
  const folder = `${root}../shared/traces`;
  if (existsSync(folder))
    return filesBelow(folder)
      .filter(isTrace)
      .filter((path) => !/MANIFEST\.json$/.test(path));
  console.warn("SKIPPED: no corpus in ../shared/traces");
  return [];
}

const run = promisify(execFile);

/** Runs the native command line: its output, its errors and its exit code. */
export async function kinetoscope(...args) {
  try {
    const { stdout, stderr } = await run(native, args, { maxBuffer: 1 << 30 });
    return { stdout, stderr, code: 0 };
  } catch (error) {
    if (typeof error.code !== "number") throw error;
    return { stdout: error.stdout, stderr: error.stderr, code: error.code };
  }
}
