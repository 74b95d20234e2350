// The types of the web platform that the declarations of the package name. A program with neither `dom` nor `webworker` in its `lib` lacks
// some of them, so the build makes the declarations import them from here.

declare global {
  // Its parameter is lost when it is inferred. An empty declaration adds nothing to that of the platform.
  interface ReadableStream<R = any> {}
}

/** The type of the objects of a class; `never` if the program does not have the class. */
type Global<Name extends string> = typeof globalThis extends { [N in Name]: { prototype: infer T } } ? T : never;

/** As `Global`, for a class of `WebAssembly`. */
type Wasm<Name extends string> = typeof globalThis extends { WebAssembly: { [N in Name]: { prototype: infer T } } }
  ? T
  : never;

export type AbortSignal = Global<"AbortSignal">;
export type Blob = Global<"Blob">;
export type BufferSource = ArrayBuffer | ArrayBufferView<ArrayBuffer>;
export type Request = Global<"Request">;
export type RequestInfo = Request | string;
export type Response = Global<"Response">;
/** What the package transfers to its workers. */
export type Transferable = ArrayBuffer | ReadableStream;
export type URL = Global<"URL">;
export type Worker = Global<"Worker">;

export namespace WebAssembly {
  export type Memory = Wasm<"Memory">;
  export type Module = Wasm<"Module">;
  export type Table = Wasm<"Table">;
}
