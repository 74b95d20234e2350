// A placeholder for the module that the build writes: the engine as base64.

export const WASM: string = "";
