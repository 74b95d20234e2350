// Links from the sources of kernels to an editor.

import { hasHidden } from "./visible";

/** A part of the text of a source, and the address that opens it in an editor. */
export interface SourcePart {
  text: string;
  address: string | undefined;
}

/** Half of a character, which an address cannot have. */
const HALF = /\p{Surrogate}/u;

/** An absolute path of this machine. A path that begins with two slashes can be of another machine. */
const ABSOLUTE = /^(\/(?![/\\])|[A-Za-z]:[/\\](?![/\\]))/;

/** Returns the address that opens a line in Visual Studio Code; undefined unless the path is absolute. */
export function editorAddress(file: string, line: string): string | undefined {
  if (!ABSOLUTE.test(file) || hasHidden(file) || HALF.test(file)) return undefined;
  const path = file.replaceAll("\\", "/").split("/");
  const escaped = path.map((part, at) => (at === 0 ? part : encodeURIComponent(part))).join("/");
  return `vscode://file${escaped.startsWith("/") ? "" : "/"}${escaped}:${line}`;
}

/**
 * Splits the text of a source: `FILE:LINE`, several of them such as `a.py:1, 2, b.py:3`, a frame as `FILE(LINE): FUNCTION`, or a file.
 */
export function sourceParts(source: string): SourcePart[] {
  const frame = /^(.+)\((\d+)\): /.exec(source);
  if (frame) return [{ text: source, address: editorAddress(frame[1] as string, frame[2] as string) }];
  let file = "";
  return source.split(", ").map((text) => {
    const [, path, line] = /^(.+):(\d+)$/.exec(text) ?? [];
    const number = line ?? (/^\d+$/.test(text) ? text : undefined);
    if (number === undefined) file = "";
    else if (path !== undefined) file = path;
    return { text, address: number === undefined ? undefined : editorAddress(file, number) };
  });
}

/** Shortens a part of a source for a table: the file without its folders, and without the middle of the hash that names a generated one. */
export function shortPart(text: string): string {
  const path = /^(.+)\(\d+\): /.exec(text)?.[1] ?? text;
  const name = text.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  return name.replace(/^(c[a-z2-7]{7})[a-z2-7]{40}(?=[a-z2-7]{4}\.py)/, "$1…");
}
