// The script of the webview. A worker must have the origin of the page, so its script is fetched and started from a blob.

import { createRemoteClient } from "kinetoscope/remote";

const places = JSON.parse(document.body.dataset.places);
const fetched = async (place) => {
  const response = await fetch(place);
  if (!response.ok) throw new Error(`${place}: ${response.status}`);
  return response;
};

async function show() {
  const script = URL.createObjectURL(await (await fetched(places.worker)).blob());
  const engine = await (await fetched(places.engine)).arrayBuffer();
  const { open } = createRemoteClient((onReply, onFailure) => {
    const worker = new Worker(script);
    worker.onmessage = (event) => onReply(event.data);
    worker.onerror = (event) => onFailure(new Error(event.message));
    worker.postMessage({ engine });
    return worker;
  });
  const trace = await open(await fetched(places.trace));
  document.querySelector("pre").textContent = await trace.table("summary");
  document.title = `${trace.length} events`;
}

show().catch((error) => (document.querySelector("pre").textContent = document.title = String(error)));
