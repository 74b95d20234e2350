// Instances of an engine. One that has failed cannot be used again: its memory is given back, and a new one takes its place.

/** The glue of an engine. */
export interface Glue {
  initialize(input: { module_or_path: WebAssembly.Module }): Promise<{ memory: WebAssembly.Memory }>;
  /** The exports of the instance, once it is loaded. */
  initSync(module: WebAssembly.Module): { memory: WebAssembly.Memory };
  __wbg_reset_state(): void;
}

const replacing: (() => void)[] = [];

/** Replaces the instance of a loaded engine after a failure. */
export function replaceAfterFailure(glue: Glue): void {
  replacing.push(glue.__wbg_reset_state);
}

let isBroken = false;

/** Replaces the instances of this thread: what they hold is lost. */
export function replaceInstances(): void {
  try {
    for (const replace of replacing) replace();
  } catch {
    isBroken = true;
  }
}

/** Whether there was no memory for another instance. */
export function cannotContinue(): boolean {
  return isBroken;
}

/** Whether WebAssembly has ended in the middle of a call: no memory, no stack, or a bug. */
export function isTrap(thrown: unknown): thrown is Error {
  if (thrown instanceof WebAssembly.RuntimeError) return true;
  return thrown instanceof Error && /call stack|too much recursion/.test(thrown.message);
}

/** Whether the glue has refused an object of an earlier instance. */
export function isStale(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.startsWith("Invalid stale object");
}
