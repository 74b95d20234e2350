// For CommonJS: `const { COLUMNS } = await require("kinetoscope/columns").load()`.

type Entry = typeof import("./columns.js", { with: { "resolution-mode": "import" } });

/** Loads this entry, which is an ES module. */
function load(): Promise<Entry> {
  return import("./columns.js");
}

export = { load };
