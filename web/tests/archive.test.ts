// Archives: their files, and what is left out.

import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { unpack } from "../src/engine/archive";
import { distinct } from "../src/engine/files";
import { tar, zip, type Member } from "./archives";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const long = `run/${"folder/".repeat(20)}rank2.json`;

const members: Member[] = [
  { path: "run/rank0.json", bytes: bytes("{}".repeat(4000)) },
  { path: "run/rank1.json.gz", bytes: bytes("one") },
  { path: long, bytes: bytes("two") },
  { path: "run/config.yaml", bytes: bytes("lr: 1") },
  { path: "run/inner.tar.gz", bytes: bytes("no") },
  { path: "run/._rank0.json", bytes: bytes("no") },
];

const signal = new AbortController().signal;
const file = (content: Uint8Array, name: string): File => new File([content as Uint8Array<ArrayBuffer>], name);
const packed = (content: Uint8Array): Uint8Array => new Uint8Array(gzipSync(content));

const archives: [string, Uint8Array][] = [
  ["run.tar", tar(members)],
  ["gnu.tar", tar(members, "gnu")],
  ["run.tar.gz", packed(tar(members))],
  ["run.tgz", packed(tar(members))],
  ["plain.tgz", tar(members)],
  ["run.zip", zip(members)],
];

test.each(archives)("%s gives its traces and lists the others", async (name, content) => {
  const { files, leftOut } = await unpack(file(content, name), signal);
  expect(files.map(({ path }) => path)).toEqual(members.slice(0, 3).map(({ path }) => path));
  expect(await Promise.all(files.map(async (one) => (await one.file.text()).length))).toEqual([8000, 3, 3]);
  expect(leftOut.map(({ code, message }) => [code, message.split(":")[0]])).toEqual([
    ["skipped", "run/config.yaml"],
    ["skipped", "run/inner.tar.gz"],
  ]);
});

test.each([
  ["cut.tar", tar(members).slice(0, 5000)],
  ["cut.tgz", packed(tar(members)).slice(0, 60)],
  ["cut.zip", zip(members).slice(0, 40)],
  ["text.tar", bytes("no archive".repeat(100))],
  ["text.zip", bytes("no archive")],
  ["empty.zip", bytes("")],
])("a damaged archive is a note: %s", async (name, content) => {
  const { leftOut } = await unpack(file(content, name), signal);
  expect(leftOut.at(-1)).toMatchObject({ code: "unreadable", message: expect.stringContaining(name) as string });
});

test("unpacking can be aborted", async () => {
  await expect(unpack(file(tar(members), "run.tar"), AbortSignal.abort())).rejects.toThrow();
});

test("files with the same name are named by their paths", () => {
  const placed = ["a/trace.json", "b/trace.json", "c/rank2.json", "a/trace.json"].map((path) => {
    return { path, file: file(bytes(""), path.slice(2)) };
  });
  expect(distinct(placed).map(({ name }) => name)).toEqual([
    "a/trace.json",
    "b/trace.json",
    "rank2.json",
    "a/trace.json (2)",
  ]);
});
