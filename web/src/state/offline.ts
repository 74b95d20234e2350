// Makes the page available offline.

/** Starts the service worker, and makes it cache the files that were loaded before it was active. */
export async function keepForOffline(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  try {
    await navigator.serviceWorker.register("service-worker.js");
    const worker = navigator.serviceWorker;
    if (!worker.controller) await new Promise((resolve) => (worker.oncontrollerchange = resolve));
    const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
    const own = [location.href, ...loaded].filter((name) => name.startsWith(new URL(".", location.href).href));
    // Read from the browser's cache, so that nothing is downloaded twice.
    await Promise.all(
      own.map((name) => fetch(name, { cache: "force-cache" }).then((response) => response.arrayBuffer())),
    );
  } catch {
    // Some browsers and hosts do not allow service workers; the page works without one.
  }
}
