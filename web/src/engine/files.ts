// Which files may be traces, by their names.

/** A file that was left out, and why. */
export interface LeftOut {
  code: "skipped" | "unreadable";
  message: string;
}

/** A file with its place in a folder or an archive. */
export interface PlacedFile {
  file: File;
  path: string;
}

const TRACE = /\.(json|gz|zst|ktrace|pickle|pftrace|perfetto-trace|ksum)$/i;
const ARCHIVE = /\.(tar|tar\.gz|tgz|zip)$/i;

/** The ends of the names of files that can be opened, for a file chooser. */
export const ACCEPTED = ".json,.gz,.zst,.ktrace,.pickle,.pftrace,.perfetto-trace,.ksum,.jsonl,.tar,.tgz,.zip,.log,.py";

export const isArchive = (name: string): boolean => ARCHIVE.test(name);

/** Whether a file is hidden, such as those that macOS adds. */
export const isHidden = (path: string): boolean => /(^|\/)(\.|__MACOSX\/)/.test(path);

/** Whether a file has summaries, by its first bytes. A file that cannot be read is reported when it is opened. */
export function isSummary(file: File): Promise<boolean> {
  const head = file.slice(0, 4).text();
  return head.then(
    (text) => text === "KSUM",
    () => false,
  );
}

/** The beginning of a history, as `kinetoscope check --record` writes it, or with other white space. */
const HISTORY = /^\s*\{\s*"schema"\s*:\s*"kinetoscope\.history\//;

/** Whether a file is a history, by its first bytes. */
export async function isHistory(file: File): Promise<boolean> {
  const head = file.slice(0, 100).text();
  return HISTORY.test(await head.catch(() => ""));
}

/** The note about a file in a folder or an archive that is not read because of its name. */
export function otherKind(path: string): LeftOut {
  return { code: "skipped", message: `${path}: a file of another kind, by its name` };
}

/** Whether a file in a folder or an archive is read. */
export const isCandidate = (name: string): boolean => TRACE.test(name) && !isArchive(name);

/** Returns files whose names differ: those in different folders with the same name get the path as name. */
export function distinct(placed: readonly PlacedFile[]): File[] {
  const counts = new Map<string, number>();
  for (const { file } of placed) counts.set(file.name, (counts.get(file.name) ?? 0) + 1);
  const used = new Set<string>();
  return placed.map(({ file, path }) => {
    const base = (counts.get(file.name) ?? 0) > 1 ? path : file.name;
    let name = base;
    for (let number = 2; used.has(name); number += 1) name = `${base} (${number})`;
    used.add(name);
    return name === file.name ? file : new File([file], name);
  });
}
