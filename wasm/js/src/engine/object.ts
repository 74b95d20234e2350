// Something that the engine of this thread holds: calls of the engine, and its disposal.

import { KinetoscopeError, guarded } from "../base/errors.js";

const leaked = new FinalizationRegistry<{ free(): void }>((engine) => engine.free());

/** Something that uses memory of the engine until it is disposed of. */
export class EngineObject<E extends { free(): void }> {
  #engine: E | undefined;
  #what: string;

  /** @internal */
  constructor(engine: E, what: string) {
    this.#engine = engine;
    this.#what = what;
    leaked.register(this, engine, this);
  }

  /** @internal */
  protected withEngine<T>(call: (engine: E) => T): T {
    const engine = this.#engine;
    if (!engine) throw new KinetoscopeError("disposed", `${this.#what} was disposed of`);
    return guarded(() => call(engine));
  }

  /** Frees it. An export that has begun continues. */
  dispose(): void {
    leaked.unregister(this);
    this.#engine?.free();
    this.#engine = undefined;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
