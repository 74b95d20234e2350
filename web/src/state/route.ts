// The state of the views, kept in the hash of the address: back, forward, reload and a copied link restore it.

import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { VIEWS, type View } from "../model/views";

export interface Route {
  view: View;
  params: Readonly<Record<string, string>>;
}

function parse(hash: string): Route {
  const params = Object.fromEntries(new URLSearchParams(hash.replace(/^#/, "")));
  const { view, ...rest } = params;
  return { view: VIEWS.find((name) => name === view) ?? "overview", params: rest };
}

function format({ view, params }: Route): string {
  return `#${new URLSearchParams({ view, ...params }).toString()}`;
}

export const route = signal<Route>(parse(location.hash));

/** The view of the route; it changes less often than the route. */
export const view = computed(() => route.value.view);

addEventListener("popstate", () => (route.value = parse(location.hash)));
addEventListener("hashchange", () => (route.value = parse(location.hash)));

/** Parameters that all views share: they are kept when the view changes. */
const SHARED = ["trace", "sample"];

type Changes = Record<string, string | number | undefined>;

function changed(params: Route["params"], changes: Changes): Record<string, string> {
  const all = Object.entries({ ...params, ...changes }).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(all.map(([key, value]) => [key, String(value)]));
}

/** Returns the address of a view. */
export function addressOf(to: View, changes: Changes = {}): string {
  const { params } = route.value;
  const shared = Object.fromEntries(Object.entries(params).filter(([key]) => SHARED.includes(key)));
  return format({ view: to, params: changed(shared, changes) });
}

/** Opens a view and adds it to the history. */
export function go(to: View, changes: Changes = {}): void {
  history.pushState(null, "", addressOf(to, changes));
  route.value = parse(location.hash);
}

/** Changes parameters of the current view; `step` adds an entry to the history. */
export function setParams(changes: Changes, how: "step" | "replace" = "replace"): void {
  const params = changed(route.value.params, changes);
  const address = format({ view: route.value.view, params });
  if (address === location.hash) return;
  if (how === "step") history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  route.value = { view: route.value.view, params };
}

/** Returns a parameter of the current view. */
export function param(name: string): string | undefined {
  return route.value.params[name];
}

/** Returns a numeric parameter. */
export function numberParam(name: string): number | undefined {
  const text = param(name);
  const number = Number(text);
  return text === undefined || Number.isNaN(number) ? undefined : number;
}

const texts = new Map<string, ReadonlySignal<string>>();

/** Returns a signal of one parameter, which does not change with the other parameters. */
export function paramSignal(name: string): ReadonlySignal<string> {
  const known = texts.get(name) ?? computed(() => param(name) ?? "");
  texts.set(name, known);
  return known;
}
