// The page without a network: a service worker that keeps the files of the folder.

import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/**
 * The worker's text. Pages come from the network first; other files, whose names tell their content, from what was kept when
 * they were first loaded, so that nothing is loaded that the page does not use.
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
  if (event.request.method === "GET" && own.has(url.href)) event.respondWith(kept(url.href, event.request));
});
`;
}

/** Writes the service worker of the folder. */
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
