// For CommonJS: `const { open } = await require("kinetoscope/inline").load()`.

type Entry = typeof import("./inline.js", { with: { "resolution-mode": "import" } });

/** Loads this entry, which is an ES module. */
function load(): Promise<Entry> {
  return import("./inline.js");
}

export = { load };
