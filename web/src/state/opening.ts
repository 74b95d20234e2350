// Opens traces from files, an address, or the sample.

import { signal } from "@preact/signals";
import { sample } from "#sample";
import { openHistory } from "./history";
import { endFollowing, follow, isLive } from "./live";
import { go, param, setParams, view } from "./route";
import { PAGE_TEXTS } from "../strings";
import { unpack } from "../engine/archive";
import { distinct, isArchive, isHistory, isSummary, type LeftOut, type PlacedFile } from "../engine/files";
import { isOfCompile, sortAdded, sortFiles, withAdded, type Joined } from "../engine/joined";
import { beginReading, closeRun, endReading, leftOut, openFileRun } from "./run";
import { cancel, closeAll, notJoined, open, traces, type OpenTrace } from "./session";

/** Why an address could not be loaded. */
export const addressFailure = signal("");

/** The name of the local file that was open before the page was reloaded; the user has to open it again. */
export const lostName = signal<string | undefined>(undefined);

/** Shows why files could not be opened. */
export function reportFailure(thrown: unknown): void {
  addressFailure.value = thrown instanceof Error ? thrown.message : String(thrown);
}

const KEY = "kinetoscope.name";

function remember(name: string): void {
  try {
    sessionStorage.setItem(KEY, name);
  } catch {
    // A page opened from a file may have no storage.
  }
}

function remembered(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

/** The number of traces up to which all of them are kept open. */
const FEW = 4;

/** What was dropped or chosen, without archives: their files instead. */
interface Expanded {
  files: PlacedFile[];
  leftOut: LeftOut[];
}

/** Replaces archives by the files in them. Returns undefined if the user cancels. */
async function expand(placed: readonly PlacedFile[]): Promise<Expanded | undefined> {
  const archives = placed.filter(({ file }) => isArchive(file.name));
  const found: PlacedFile[] = [];
  const leftOut: LeftOut[] = [];
  if (archives.length === 0) return { files: [...placed], leftOut };
  const signal = beginReading(0);
  try {
    for (const one of placed) {
      if (!isArchive(one.file.name)) {
        found.push(one);
        continue;
      }
      const unpacked = await unpack(one.file, signal);
      found.push(...unpacked.files);
      leftOut.push(...unpacked.leftOut);
    }
    if (signal.aborted) return undefined;
    return { files: found, leftOut };
  } catch (thrown) {
    if (signal.aborted) return undefined;
    throw thrown;
  } finally {
    endReading(signal);
  }
}

/** Opens the history among files, if there is one, and returns the other files. */
async function withoutHistory(placed: readonly PlacedFile[]): Promise<PlacedFile[]> {
  const are = await Promise.all(placed.map(({ file }) => isHistory(file)));
  const found = placed.find((_, at) => are[at]);
  if (found) {
    addressFailure.value = "";
    if (lostName.value !== undefined && lostName.value !== found.file.name) setParams({ q: undefined });
    lostName.value = undefined;
    remember(found.file.name);
    openHistory(found.file);
  }
  return placed.filter((_, at) => !are[at]);
}

/** Whether files can be joined to the open trace. */
export function canJoin(): boolean {
  const [only, ...others] = traces.value;
  return only !== undefined && others.length === 0 && !only.large && !isLive.value;
}

/** Opens the open trace again, with more files joined to it. */
async function openAgain({ file, address, joined }: OpenTrace, added: Joined): Promise<void> {
  addressFailure.value = "";
  try {
    const given = file ?? (address === undefined ? undefined : (await fileOf(address)).file);
    if (given) await open([given], "replace", withAdded(joined, added));
  } catch (thrown) {
    reportFailure(thrown);
  }
}

/** Joins files to the open trace. */
export async function joinFiles(files: readonly File[]): Promise<void> {
  const [only] = traces.value;
  if (only && files.length > 0)
    await openAgain(only, await sortAdded(files.map((file) => ({ file, path: file.name }))));
}

/** Describes the files that are not joined, because there is not one trace that they are of. */
function notOfOne({ captures, provenance }: Joined): void {
  const names = [...captures, ...provenance].map(({ name }) => name);
  if (names.length > 0) notJoined.value = [...notJoined.value, { code: "several_traces", names }];
}

/**
 * Replaces the open traces with files and the files in archives. Many traces, and summaries, are opened as a run: only their
 * summaries are kept. Files of `torch.compile` and captures are joined to the only trace among the files. Without a trace, files of
 * `torch.compile` are joined to the open one.
 */
export async function openPlaced(all: readonly PlacedFile[], others: readonly LeftOut[] = []): Promise<void> {
  const placed = await withoutHistory(all);
  if (placed.length + others.length === 0) return;
  const [only] = traces.value;
  if (only && canJoin() && placed.length > 0 && placed.every(({ path }) => isOfCompile(path)))
    return openAgain(only, sortFiles(placed).joined);
  const name = (placed.find(({ path }) => !isOfCompile(path)) ?? placed[0])?.file.name ?? "";
  addressFailure.value = "";
  endFollowing();
  closeRun();
  cancel();
  setParams({ sample: undefined, trace: undefined });
  if (lostName.value !== name)
    setParams({ q: undefined, open: undefined, event: undefined, start: undefined, end: undefined });
  lostName.value = undefined;
  remember(name);
  if (view.value === "trend") go("overview");
  const expanded = await expand(placed);
  if (!expanded) return;
  const { traces: found, joined } = sortFiles(expanded.files);
  const files = distinct(found);
  leftOut.value = [...others, ...expanded.leftOut];
  if (files.length === 0) {
    closeAll();
    addressFailure.value = joined.provenance.length > 0 ? PAGE_TEXTS.onlyOfCompile : PAGE_TEXTS.noTrace;
    return;
  }
  const hasSummary = (await Promise.all(files.map(isSummary))).includes(true);
  if (files.length === 1 && !hasSummary) return open(files, "replace", joined);
  if (files.length <= FEW && !hasSummary) await open(files);
  else await openFileRun(files, leftOut.value);
  notOfOne(joined);
}

/** Replaces the open traces with files. */
export const openFiles = (files: readonly File[]): Promise<void> =>
  openPlaced(files.map((file) => ({ file, path: file.webkitRelativePath || file.name })));

/** Opens files in addition to the open traces. */
export const addFiles = (files: readonly File[]): Promise<void> => open(files, "add");

/** Opens the built-in sample. */
export async function openSample(): Promise<void> {
  addressFailure.value = "";
  endFollowing();
  closeRun();
  setParams({ sample: 1 });
  await open([await sample()]);
}

/** Whether this is the single-file page, which has no `remote.html`. */
const isSingle = import.meta.env.MODE === "single";

/** Whether this page was opened from a file. Such a page cannot load addresses. */
export const isFromFile = location.protocol === "file:";

/** Opens an address by navigating to a page whose content security policy allows to load it. */
export function goToAddress(text: string): void {
  addressFailure.value = "";
  let place: URL;
  try {
    place = new URL(text, location.href);
  } catch {
    addressFailure.value = `${text}: not a valid address`;
    return;
  }
  const isOwn = place.origin === location.origin;
  if (isSingle && !isOwn) {
    addressFailure.value = `${place.href}: ${PAGE_TEXTS.noForeignOrigin}`;
    return;
  }
  const page = new URL(isSingle ? location.pathname : isOwn ? "index.html" : "remote.html", location.href);
  page.searchParams.set("trace", isOwn ? place.pathname + place.search : place.href);
  location.assign(page);
}

async function responseOf(text: string): Promise<Response> {
  const place = new URL(text, location.href);
  try {
    const response = await fetch(place, { credentials: place.origin === location.origin ? "same-origin" : "omit" });
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    return response;
  } catch (thrown) {
    throw new Error(`${place.href}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

const pathOf = (text: string): string => decodeURIComponent(new URL(text, location.href).pathname);

async function fileOf(text: string): Promise<PlacedFile> {
  const path = pathOf(text);
  const blob = await (await responseOf(text)).blob();
  return { path, file: new File([blob], path.split("/").pop() || path) };
}

/** Opens the traces of a run. Their files are kept, to open single ranks. */
async function openAddresses(addresses: readonly string[]): Promise<void> {
  const signal = beginReading(0);
  const placed: PlacedFile[] = [];
  for (const text of addresses) {
    placed.push(await fileOf(text));
    if (signal.aborted) return;
  }
  await openFileRun(distinct(placed), []);
}

/** Opens the history among addresses, by its name, if there is one. Returns the other addresses. */
async function withoutHistoryAddress(addresses: readonly string[]): Promise<string[]> {
  const isNamed = (text: string): boolean => pathOf(text).endsWith(".jsonl");
  const found = addresses.find(isNamed);
  if (found) openHistory((await fileOf(found)).file);
  return addresses.filter((text) => !isNamed(text));
}

/** Opens the traces and the history that the page's address names. */
export async function openFromAddress(): Promise<void> {
  const followed = new URLSearchParams(location.search).get("live");
  if (followed) return follow(new URL(followed, location.href).href);
  const given = new URLSearchParams(location.search).getAll("trace");
  if (given.length > 0) {
    try {
      const addresses = await withoutHistoryAddress(given);
      if (addresses.length > FEW) return await openAddresses(addresses);
      if (addresses.length > 0) await open(await Promise.all(addresses.map(responseOf)));
    } catch (thrown) {
      addressFailure.value = (thrown as Error).message;
    }
    return;
  }
  if (param("sample")) return openSample();
  if (location.hash.length > 1) lostName.value = remembered();
}
