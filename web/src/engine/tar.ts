// Reads the files in a tar archive: ustar, with the long names of GNU tar and pax.

const BLOCK = 512;

/** The largest extended header that is read, in bytes. */
const LARGEST_HEADER = 1 << 20;

/** Bytes that are read once, from the beginning to the end. */
export interface ByteReader {
  /** Returns the next bytes; fewer at the end. */
  bytes(count: number): Promise<Uint8Array>;
  /** Returns the next bytes without holding them in the memory of the page, if that is possible. */
  blob(count: number): Promise<Blob>;
  skip(count: number): Promise<void>;
}

export interface TarMember {
  path: string;
  size: number;
  /** Returns the content. If it is not called, the content is skipped. */
  read(): Promise<Blob>;
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).split("\0", 1)[0] as string;

/** A number: octal digits, or big-endian with the first bit set. */
function numberOf(field: Uint8Array): number {
  if (((field[0] ?? 0) & 0x80) !== 0) {
    return field.subarray(1).reduce((number, byte) => number * 256 + byte, 0);
  }
  const digits = text(field).trim();
  if (!/^[0-7]*$/.test(digits)) throw new Error("a header of the archive is damaged");
  return Number.parseInt(digits || "0", 8);
}

function isValid(header: Uint8Array): boolean {
  const sum = header.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0);
  return sum === numberOf(header.subarray(148, 156));
}

/** The records of a pax header: `LENGTH KEY=VALUE\n`. */
function paxRecords(bytes: Uint8Array): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(32, at);
    const length = Number(new TextDecoder().decode(bytes.subarray(at, space)));
    if (space < 0 || !(length > space - at)) break;
    const [, key, value] = /^([^=]+)=([\s\S]*)\n$/.exec(text(bytes.subarray(space + 1, at + length))) ?? [];
    if (key !== undefined && value !== undefined) records.set(key, value);
    at += length;
  }
  return records;
}

/** Yields the files of an archive. Throws if the archive is damaged. */
export async function* tarMembers(from: ByteReader): AsyncGenerator<TarMember> {
  let longName: string | undefined;
  let pax = new Map<string, string>();
  for (;;) {
    const header = await from.bytes(BLOCK);
    if (header.length === 0 || header.every((byte) => byte === 0)) return;
    if (header.length < BLOCK) throw new Error("the archive is cut off");
    if (!isValid(header)) throw new Error("this is no tar archive, or it is damaged");
    const kind = String.fromCharCode(header[156] ?? 0);
    const stated = pax.get("size");
    const size = stated === undefined ? numberOf(header.subarray(124, 136)) : Number(stated);
    if (!Number.isSafeInteger(size) || size < 0) throw new Error("a header of the archive is damaged");
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (kind === "L" || kind === "x") {
      if (size > LARGEST_HEADER) throw new Error("a header of the archive is damaged");
      const extended = await from.bytes(size);
      await from.skip(padding);
      if (kind === "L") longName = text(extended);
      else pax = paxRecords(extended);
      continue;
    }
    const prefix = text(header.subarray(257, 262)) === "ustar" ? text(header.subarray(345, 500)) : "";
    const short = text(header.subarray(0, 100));
    const path = pax.get("path") ?? longName ?? (prefix ? `${prefix}/${short}` : short);
    if (kind !== "g") [longName, pax] = [undefined, new Map()];
    let wasRead = false;
    const read = async (): Promise<Blob> => {
      wasRead = true;
      const content = await from.blob(size);
      if (content.size < size) throw new Error("the archive is cut off");
      return content;
    };
    if (kind === "0" || kind === "\0" || kind === "7") yield { path, size, read };
    if (!wasRead) await from.skip(size);
    await from.skip(padding);
  }
}

/** Reads a file without loading it: contents are parts of the file. */
export function ofFile(file: Blob): ByteReader {
  let at = 0;
  const next = (count: number): Blob => {
    const part = file.slice(at, at + count);
    at += count;
    return part;
  };
  return {
    bytes: async (count) => new Uint8Array(await next(count).arrayBuffer()),
    blob: async (count) => next(count),
    skip: async (count) => void next(count),
  };
}

/** Reads a stream. */
export function ofStream(stream: ReadableStream<Uint8Array>): ByteReader {
  const reader = stream.getReader();
  let rest: Uint8Array = new Uint8Array();
  async function each(count: number, use: (part: Uint8Array) => void): Promise<void> {
    for (let left = count; left > 0;) {
      if (rest.length === 0) {
        const { done, value } = await reader.read();
        if (done) return;
        rest = value;
        continue;
      }
      const part = rest.subarray(0, left);
      rest = rest.subarray(part.length);
      left -= part.length;
      use(part);
    }
  }
  /** Parts are joined to blobs of this size, which the browser may keep on disk. */
  const PIECE = 8 << 20;
  async function blob(count: number): Promise<Blob> {
    const done: Blob[] = [];
    let parts: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    await each(count, (part) => {
      parts.push(part.slice());
      size += part.length;
      if (size < PIECE) return;
      done.push(new Blob(parts));
      [parts, size] = [[], 0];
    });
    return new Blob([...done, ...parts]);
  }
  return {
    blob,
    bytes: async (count) => new Uint8Array(await (await blob(count)).arrayBuffer()),
    skip: (count) => each(count, () => undefined),
  };
}
