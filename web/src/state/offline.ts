// Keeps the page for a time without a network.

/** Starts the service worker, and has it keep what was loaded before it was there. */
export async function keepForOffline(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  try {
    await navigator.serviceWorker.register("service-worker.js");
    const worker = navigator.serviceWorker;
    if (!worker.controller) await new Promise((resolve) => (worker.oncontrollerchange = resolve));
    const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
    const own = [location.href, ...loaded].filter((name) => name.startsWith(new URL(".", location.href).href));
    // From the cache of the browser, so that nothing is loaded twice.
    await Promise.all(
      own.map((name) => fetch(name, { cache: "force-cache" }).then((response) => response.arrayBuffer())),
    );
  } catch {
    // Some browsers and hosts allow no service worker; the page works as well.
  }
}
