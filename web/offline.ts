// Offline support: a service worker that caches the files of the page.

import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/**
 * Returns the source of the service worker. Pages are loaded from the network first. Other files have content hashes in
 * their names: they are cached at the first load and then served from the cache. Files that the page does not use are
 * never loaded.
 */
function workerOf(files: string[], version: string): string {
  return `const KEPT = "kinetoscope-${version}";
const own = new Set(${JSON.stringify(files)}.map((file) => new URL(file, location.href).href));

async function kept(url, request) {
  const cache = await caches.open(KEPT);
  const found = await cache.match(url);
  if (found && request.mode !== "navigate") return found;
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(url, response.clone());
    return response;
  } catch (error) {
    if (found) return found;
    throw error;
  }
}

addEventListener("install", () => skipWaiting());

addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith("kinetoscope-") && name !== KEPT);
  const drop = caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name))));
  event.waitUntil(drop.then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  url.search = "";
  url.hash = "";
  if (event.request.method === "GET" && own.has(url.href)) event.respondWith(kept(url.href, event.request));
});
`;
}

/** Emits the service worker with the list of files. */
export function offline(): Plugin {
  return {
    name: "offline",
    apply: "build",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const names = Object.keys(bundle).sort();
        const hash = createHash("sha256");
        for (const name of names) {
          const file = bundle[name];
          hash.update(name).update(file?.type === "chunk" ? file.code : (file?.source ?? ""));
        }
        const source = workerOf(["./", ...names], hash.digest("hex").slice(0, 12));
        this.emitFile({ type: "asset", fileName: "service-worker.js", source });
      },
    },
  };
}
