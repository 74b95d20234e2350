// For CommonJS: `const { serve } = await require("kinetoscope/serve").load()`.

type Entry = typeof import("./serve.js", { with: { "resolution-mode": "import" } });

/** Loads this entry, which is an ES module. */
function load(): Promise<Entry> {
  return import("./serve.js");
}

export = { load };
