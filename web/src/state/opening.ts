// Opens traces from files, an address, or the sample.

import { signal } from "@preact/signals";
import { sample } from "#sample";
import { endFollowing, follow } from "./live";
import { param, setParams } from "./route";
import { PAGE_TEXTS } from "../strings";
import { open } from "./session";

/** Why an address could not be loaded. */
export const addressFailure = signal("");

/** The name of the local file that was open before the page was reloaded; the user has to open it again. */
export const lostName = signal<string | undefined>(undefined);

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

/** Replaces the open traces with files. */
export async function openFiles(files: readonly File[]): Promise<void> {
  if (files.length === 0) return;
  addressFailure.value = "";
  endFollowing();
  setParams({ sample: undefined, trace: undefined });
  if (lostName.value !== files[0]?.name)
    setParams({ q: undefined, open: undefined, event: undefined, start: undefined, end: undefined });
  lostName.value = undefined;
  remember(files[0]?.name ?? "");
  await open(files);
}

/** Opens files in addition to the open traces. */
export const addFiles = (files: readonly File[]): Promise<void> => open(files, "add");

/** Opens the built-in sample. */
export async function openSample(): Promise<void> {
  addressFailure.value = "";
  endFollowing();
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

/** Opens the traces that the page's address names. */
export async function openFromAddress(): Promise<void> {
  const followed = new URLSearchParams(location.search).get("live");
  if (followed) return follow(new URL(followed, location.href).href);
  const addresses = new URLSearchParams(location.search).getAll("trace");
  if (addresses.length > 0) {
    try {
      await open(await Promise.all(addresses.map(responseOf)));
    } catch (thrown) {
      addressFailure.value = (thrown as Error).message;
    }
    return;
  }
  if (param("sample")) return openSample();
  if (location.hash.length > 1) lostName.value = remembered();
}
