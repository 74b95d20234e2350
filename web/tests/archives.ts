// Writes small archives for tests.

import { deflateRawSync } from "node:zlib";

export interface Member {
  path: string;
  bytes: Uint8Array;
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function tarEntry(name: string, bytes: Uint8Array, kind: string): Uint8Array[] {
  const header = new Uint8Array(512);
  header.set(text(name).subarray(0, 100));
  header.set(text("0000644\0"), 100);
  header.set(text(`${bytes.length.toString(8).padStart(11, "0")}\0`), 124);
  header.set(text("        "), 148);
  header.set(text(kind), 156);
  header.set(text("ustar\x0000"), 257);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.set(text(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return [header, bytes, new Uint8Array((512 - (bytes.length % 512)) % 512)];
}

/** Returns a tar archive. A path of more than 100 characters has a header of pax or GNU tar. */
export function tar(members: readonly Member[], long: "pax" | "gnu" = "pax"): Uint8Array<ArrayBuffer> {
  const parts = members.flatMap(({ path, bytes }) => {
    if (path.length <= 100) return tarEntry(path, bytes, "0");
    if (long === "gnu") return [...tarEntry("long", text(`${path}\0`), "L"), ...tarEntry(path, bytes, "0")];
    const record = ` path=${path}\n`;
    let length = record.length + 1;
    while (`${length}${record}`.length !== length) length += 1;
    return [...tarEntry("pax", text(`${length}${record}`), "x"), ...tarEntry(path, bytes, "0")];
  });
  return joined([...parts, new Uint8Array(1024)]);
}

function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** Returns a zip archive with compressed members. */
export function zip(members: readonly Member[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const { path, bytes } of members) {
    const [name, packed] = [text(path), deflateRawSync(bytes)];
    const fields = new DataView(new ArrayBuffer(26));
    fields.setUint16(0, 20, true);
    fields.setUint16(4, 8, true);
    fields.setUint32(10, crc32(bytes), true);
    fields.setUint32(14, packed.length, true);
    fields.setUint32(18, bytes.length, true);
    fields.setUint16(22, name.length, true);
    const own = new Uint8Array(fields.buffer);
    const place = new DataView(new ArrayBuffer(14));
    place.setUint32(10, at, true);
    directory.push(text("PK\x01\x02\x14\0"), own, new Uint8Array(place.buffer), name);
    const local = [text("PK\x03\x04"), own, name, packed];
    parts.push(...local);
    at += local.reduce((sum, part) => sum + part.length, 0);
  }
  const list = joined(directory);
  const end = new DataView(new ArrayBuffer(18));
  end.setUint16(4, members.length, true);
  end.setUint16(6, members.length, true);
  end.setUint32(8, list.length, true);
  end.setUint32(12, at, true);
  return joined([...parts, list, text("PK\x05\x06"), new Uint8Array(end.buffer)]);
}
