// Stands for the module that the build writes: the baseline engine as base64.

export const WASM: string = "";
