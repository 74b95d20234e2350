// The traces of the tests, and the native binary as a reference.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const data = `${root}tests/data`;
/** Cargo's target directory. */
export const target = resolve(root, process.env.CARGO_TARGET_DIR ?? "target");

/** Returns all files below a folder, sorted. */
export function filesBelow(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .sort();
}

const isTrace = (path) => /\.json(\.gz|\.zst)?$/.test(path);

/**
 * Returns the traces in `tests/data`: fixtures of defects, refused files, snapshots, records, and traces of PyTorch.
 */
export function fixtures() {
  const folders = ["healthy", "malformed", "refused", "fuzz", "snapshots"].map((folder) => `${data}/${folder}`);
  const recorded = filesBelow(`${data}/torch`).filter((path) =>
    /\/(trace|records)\.(json|json\.gz|pftrace)$/.test(path),
  );
  return [...folders.flatMap(filesBelow), ...recorded];
}

/** Returns real traces from other projects, next to the repository; an empty list if there are none. */
export function corpus() {
  const folder = `${root}../shared/traces`;
  if (!existsSync(folder)) return [];
  return filesBelow(folder)
    .filter(isTrace)
    .filter((path) => !/MANIFEST\.json$/.test(path));
}

const run = promisify(execFile);

/** Runs the native command line and returns its stdout, stderr and exit code. */
export async function kinetoscope(...args) {
  try {
    const { stdout, stderr } = await run(`${target}/debug/kinetoscope`, args, { maxBuffer: 1 << 30 });
    return { stdout, stderr, code: 0 };
  } catch (error) {
    if (typeof error.code !== "number") throw error;
    return { stdout: error.stdout, stderr: error.stderr, code: error.code };
  }
}

/**
 * Yields the answers of the native engine for each trace: `{ answers }` with the JSON of all queries, or `{ error }`.
 */
export async function* nativeAnswers(paths) {
  const child = spawn(`${target}/debug/answers`, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "close");
  child.stdin.end(paths.map((path) => `${path}\n`).join(""));
  for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) yield JSON.parse(line);
  const [code] = await ended;
  if (code !== 0) throw new Error(`answers exited with ${code}`);
}
