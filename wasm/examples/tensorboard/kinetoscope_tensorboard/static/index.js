// The plugin's frame: selects a trace and shows its summary and its operators.

import { open } from "./kinetoscope/entry/worker.js";

const COLUMNS = [
  ["name", "Operator", (value) => value],
  ["count", "Calls", (value) => value.toLocaleString("en")],
  ["self_cpu_time_total_ns", "Self CPU", time],
  ["cpu_time_total_ns", "CPU total", time],
  ["self_device_time_total_ns", "Self device", time],
  ["device_time_total_ns", "Device total", time],
];

function time(ns) {
  if (ns >= 1e9) return `${(ns / 1e9).toFixed(3)} s`;
  return ns >= 1e6 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e3).toFixed(3)} µs`;
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Returns the table of operators, with the largest values of the clicked column first. */
function table(rows, sortedBy, onSort) {
  const head = COLUMNS.map(([key, title]) => {
    const button = element("button", { textContent: title, onclick: () => onSort(key) });
    return element("th", { ariaSort: key === sortedBy ? "descending" : "none" }, button);
  });
  const sorted = rows.toSorted((a, b) => (sortedBy === "name" ? a.name.localeCompare(b.name) : b[sortedBy] - a[sortedBy]));
  const body = sorted.map((row) =>
    element("tr", {}, ...COLUMNS.map(([key, , show]) => element("td", { textContent: show(row[key]) }))),
  );
  return element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

function facts(summary, trace) {
  const line = [`${trace.length.toLocaleString("en")} events`, time(summary.wall_ns)];
  if (summary.steps > 0) line.push(`${summary.steps} ${summary.steps === 1 ? "step" : "steps"} of ${time(summary.mean_step_ns)}`);
  for (const device of summary.devices) {
    line.push(`GPU ${device.device} busy ${((100 * device.busy_ns) / device.window_ns).toFixed(1)} %`);
  }
  const findings = summary.findings.map(({ message, advice }) =>
    element("li", {}, element("b", { textContent: message }), ` — ${advice}`),
  );
  return [element("p", { textContent: line.join(" · ") }), element("ul", {}, ...findings)];
}

let opening = new AbortController();
let shown;

async function show(name, view) {
  opening.abort();
  opening = new AbortController();
  const { signal } = opening;
  shown?.dispose();
  shown = undefined;
  const status = element("p", { textContent: "Reading…", role: "status" });
  view.replaceChildren(status);
  const onProgress = ({ events }) => (status.textContent = `Reading… ${events.toLocaleString("en")} events`);
  try {
    const place = new URL(`../trace?name=${encodeURIComponent(name)}`, import.meta.url);
    const trace = await open(place, { signal, onProgress });
    shown = trace;
    const [summary, rows] = [await trace.summary(), await trace.ops()];
    const draw = (key) => view.replaceChildren(...facts(summary, trace), table(rows, key, draw));
    draw("self_cpu_time_total_ns");
  } catch (error) {
    if (error.code !== "aborted") view.replaceChildren(element("p", { textContent: error.message, role: "alert" }));
  }
}

/** Called once by TensorBoard, in the frame. */
export async function render() {
  const sheet = element("link", { rel: "stylesheet", href: new URL("./index.css", import.meta.url).href });
  document.head.append(sheet);
  const names = await (await fetch(new URL("../traces", import.meta.url))).json();
  const view = element("main");
  const select = element("select", { onchange: () => show(select.value, view) });
  select.append(...names.map((name) => element("option", { value: name, textContent: name })));
  document.body.append(element("header", {}, element("label", {}, "Trace ", select)), view);
  if (names.length > 0) await show(names[0], view);
}
