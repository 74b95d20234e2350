// A recording that is followed while a program writes it: requests its state from the server, and shows its last seconds.

import { computed, signal } from "@preact/signals";
import { param, setParams } from "./route";
import { current, refresh, traces } from "./session";

/** The program whose recordings are shown. */
export interface Program {
  name?: string;
  pid?: number;
  recording?: boolean;
  /** Why the last command failed, or why the program does not answer. */
  error?: string | null;
  gone?: boolean;
}

/** The answer of the server. */
export interface LiveState {
  file: string | null;
  state: "waiting" | "recording" | "ended" | "killed";
  version: string;
  keep_ns: number;
  program: Program | null;
  error: string | null;
}

/** The pause between two questions, in ms: what is shown is at most a second old. */
const EVERY = 250;

/** The state; undefined if the page shows traces. */
export const live = signal<LiveState | undefined>(undefined);

/** Whether the page follows a recording. */
export const isLive = computed(() => live.value !== undefined);

/** Whether views keep what they show until they have their answers about another version of the trace. */
export const keepsShown = computed(() => isLive.value || current.value?.large !== undefined);

/** Whether the user has paused what is shown. */
export const isPaused = signal(false);

/** Whether the user looks at a part of the trace, which must not move. */
export const looksAtPart = computed(() => ["start", "event", "open"].some((name) => param(name) !== undefined));

let base: string | undefined;
let shown = "";

async function request(what: string, method: "GET" | "POST" = "GET"): Promise<Response> {
  const response = await fetch(`${base}/${what}`, { method, credentials: "same-origin" });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response;
}

function failed(thrown: unknown): void {
  if (base === undefined) return;
  const error = thrown instanceof Error ? thrown.message : String(thrown);
  const none = { file: null, state: "waiting", version: "", keep_ns: 0, program: null } as const;
  live.value = { ...(live.value ?? none), error };
}

/** Whether what is shown must stay. */
const isHeld = (): boolean => base === undefined || isPaused.peek() || (looksAtPart.peek() && traces.peek().length > 0);

async function update(): Promise<void> {
  const state = (await (await request("status")).json()) as LiveState;
  if (base === undefined) return;
  live.value = state;
  if (state.version === shown || isHeld()) return;
  const recording = await request("recording");
  // Without content, nothing was recorded yet.
  if (recording.status === 200 && (await refresh(recording, state.file ?? "", isHeld))) shown = state.version;
}

/** Follows what the server shows at this address, until another trace is opened or the page is left. */
export function follow(address: string): void {
  base = address;
  const turn = (): void => {
    if (base === undefined) return;
    void update()
      .catch(failed)
      .then(() => setTimeout(turn, EVERY));
  };
  turn();
}

/** Ends to follow: the user opens another trace. */
export function endFollowing(): void {
  base = undefined;
  live.value = undefined;
}

/** Starts or stops a recording of the program. */
export async function command(what: "start" | "stop"): Promise<void> {
  try {
    live.value = (await (await request(what, "POST")).json()) as LiveState;
  } catch (thrown) {
    failed(thrown);
  }
}

/** Pauses what is shown, or shows the latest again. */
export function togglePause(): void {
  const wasHeld = isHeld();
  isPaused.value = !wasHeld;
  if (wasHeld) setParams({ start: undefined, end: undefined, event: undefined, open: undefined });
}

/** The address of the complete file, as a trace. */
export function completeAddress(file: string): string {
  return `?trace=${encodeURIComponent(`${base}/file/${encodeURIComponent(file)}`)}`;
}
