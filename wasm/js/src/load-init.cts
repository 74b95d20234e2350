// For CommonJS: `const { open } = await require("kinetoscope/init").load()`.

type Entry = typeof import("./init.js", { with: { "resolution-mode": "import" } });

/** Loads this entry, which is an ES module. */
function load(): Promise<Entry> {
  return import("./init.js");
}

export = { load };
