// Reads the files in archives: `.tar`, `.tar.gz`, `.tgz` and `.zip`. Files of a plain tar archive stay where they are; others
// are decompressed into blobs.

import { Unzip, UnzipInflate, type UnzipFile } from "fflate";
import { isArchive, isHidden, otherKind, type LeftOut, type PlacedFile } from "./files";
import { isOpened } from "./joined";
import { ofFile, ofStream, tarMembers } from "./tar";

/** The number of files of an archive that are read. */
const MOST_FILES = 100_000;

/** The size up to which a file in an archive is read, however small the archive is, in bytes. */
const SMALL = 2 ** 28;

/** The largest size of a file in an archive, in bytes. */
const LARGEST = 2 ** 32;

/** How much larger than the archive a file in it may be. Traces compress by less. */
const RATIO = 100;

const CHUNK = 1 << 20;

/** The files of an archive that may be traces, and what was left out. */
export interface Unpacked {
  files: PlacedFile[];
  leftOut: LeftOut[];
}

function limitOf(archive: File): number {
  return Math.min(LARGEST, Math.max(SMALL, archive.size * RATIO));
}

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Why a file of an archive is not read. */
function reasonOf(path: string, size: number, limit: number): LeftOut | undefined {
  if (isArchive(path)) return { code: "skipped", message: `${path}: an archive in an archive` };
  if (!isOpened(path)) return otherKind(path);
  if (size > limit) return { code: "unreadable", message: `${path}: larger than ${limit} bytes` };
  return undefined;
}

/** Returns the files of an archive. A damaged archive gives the files before the damage. */
export async function unpack(archive: File, signal: AbortSignal): Promise<Unpacked> {
  const out: Unpacked = { files: [], leftOut: [] };
  try {
    if (/\.zip$/i.test(archive.name)) await unzip(archive, out, signal);
    else await untar(archive, out, signal);
  } catch (thrown) {
    signal.throwIfAborted();
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    out.leftOut.push({ code: "unreadable", message: `${archive.name}: ${reason}` });
  }
  return out;
}

async function untar(archive: File, out: Unpacked, signal: AbortSignal): Promise<void> {
  const head = new Uint8Array(await archive.slice(0, 2).arrayBuffer());
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const from = isGzip ? ofStream(archive.stream().pipeThrough(new DecompressionStream("gzip"))) : ofFile(archive);
  const limit = limitOf(archive);
  let count = 0;
  for await (const { path, size, read } of tarMembers(from)) {
    signal.throwIfAborted();
    if ((count += 1) > MOST_FILES) throw new Error(`the archive has more than ${MOST_FILES} files`);
    if (isHidden(path)) continue;
    const reason = reasonOf(path, size, limit);
    if (reason) out.leftOut.push(reason);
    else out.files.push({ path, file: new File([await read()], baseName(path)) });
  }
}

/** Collects the content of a file of a zip archive. */
function collect(entry: UnzipFile, limit: number, out: Unpacked): void {
  const path = entry.name;
  const fail = (reason: string): void => {
    out.leftOut.push({ code: "unreadable", message: `${path}: ${reason}` });
  };
  const done: Blob[] = [];
  let size = 0;
  entry.ondata = (error, data, isLast) => {
    if (error) return fail(error.message);
    size += data.length;
    if (size > limit) {
      entry.terminate();
      return fail(`larger than ${limit} bytes`);
    }
    done.push(new Blob([data as Uint8Array<ArrayBuffer>]));
    if (isLast) out.files.push({ path, file: new File(done, baseName(path)) });
  };
  try {
    entry.start();
  } catch (thrown) {
    fail(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

async function unzip(archive: File, out: Unpacked, signal: AbortSignal): Promise<void> {
  const head = new Uint8Array(await archive.slice(0, 4).arrayBuffer());
  if (head[0] !== 0x50 || head[1] !== 0x4b) throw new Error("this is no zip archive");
  const limit = limitOf(archive);
  let count = 0;
  const unzipping = new Unzip((entry) => {
    if ((count += 1) > MOST_FILES || entry.name.endsWith("/") || isHidden(entry.name)) return;
    const reason = reasonOf(entry.name, entry.originalSize ?? 0, limit);
    if (reason) out.leftOut.push(reason);
    else collect(entry, limit, out);
  });
  unzipping.register(UnzipInflate);
  for (let at = 0; at < archive.size; at += CHUNK) {
    signal.throwIfAborted();
    unzipping.push(new Uint8Array(await archive.slice(at, at + CHUNK).arrayBuffer()), at + CHUNK >= archive.size);
  }
  if (count > MOST_FILES) throw new Error(`the archive has more than ${MOST_FILES} files`);
  if (!(await hasZipEnd(archive))) throw new Error("the archive is cut off");
}

/** Whether the record at the end of a zip archive is there. A comment of up to 64 KiB may follow it. */
async function hasZipEnd(archive: File): Promise<boolean> {
  const tail = new Uint8Array(await archive.slice(Math.max(0, archive.size - (22 + 0xffff))).arrayBuffer());
  return tail.some((_, at) => tail[at] === 0x50 && tail[at + 1] === 0x4b && tail[at + 2] === 5 && tail[at + 3] === 6);
}
