// For CommonJS: `const { open } = await require("kinetoscope/worker").load()`.

type Entry = typeof import("./worker-node.js", { with: { "resolution-mode": "import" } });

/** Loads this entry, which is an ES module. */
function load(): Promise<Entry> {
  return import("./worker-node.js");
}

export = { load };
