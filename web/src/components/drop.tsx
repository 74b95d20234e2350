// Files that are dropped or pasted anywhere on the page.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { isArchive, isHidden, otherKind, type LeftOut, type PlacedFile } from "../engine/files";
import { isOpened } from "../engine/joined";
import { goToAddress, isFromFile, openFiles, openPlaced, reportFailure } from "../state/opening";
import { fileRun } from "../state/run";
import { traces } from "../state/session";
import { PAGE_TEXTS } from "../strings";

/** Opens the dropped files, including those in folders, in the order of their paths. */
async function openDropped(transfer: DataTransfer): Promise<void> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry != null);
  if (!entries.some((entry) => entry.isDirectory)) return openFiles([...transfer.files]);
  const found: PlacedFile[] = [];
  const others: LeftOut[] = [];
  const walk = async (entry: FileSystemEntry): Promise<void> => {
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      const path = entry.fullPath.replace(/^\//, "");
      if (isOpened(path) || isArchive(file.name)) found.push({ file, path });
      else if (!isHidden(path)) others.push(otherKind(path));
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0) return;
      for (const inside of some) await walk(inside);
    }
  };
  try {
    for (const entry of entries) await walk(entry);
  } catch (thrown) {
    // Chromium gives a page that was opened from a file no entries of folders.
    throw isFromFile ? new Error(PAGE_TEXTS.noFolderInFile) : thrown;
  }
  found.sort((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }));
  await openPlaced(found, others);
}

export function DropZone({ children }: { children: ComponentChildren }) {
  const [over, setOver] = useState(false);
  // Before the next frame, so that no drop reaches the browser, which would leave the page.
  useLayoutEffect(() => {
    const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
    const enter = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      openDropped(event.dataTransfer).catch(reportFailure);
    };
    const paste = (event: ClipboardEvent): void => {
      if (event.target instanceof Element && event.target.closest("input, textarea")) return;
      const files = [...(event.clipboardData?.files ?? [])];
      const text = event.clipboardData?.getData("text/plain").trim() ?? "";
      if (files.length > 0) void openFiles(files);
      else if (/^https?:\/\/\S+$/.test(text) && !isFromFile) goToAddress(text);
    };
    document.addEventListener("paste", paste);
    document.addEventListener("dragenter", enter);
    document.addEventListener("dragover", enter);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("paste", paste);
      document.removeEventListener("dragenter", enter);
      document.removeEventListener("dragover", enter);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, []);
  return (
    <div class="page">
      {children}
      {over ? (
        <div class="drop-over">
          {traces.value.length > 0 || fileRun.value ? PAGE_TEXTS.dropToReplace : PAGE_TEXTS.drop}
        </div>
      ) : null}
    </div>
  );
}
