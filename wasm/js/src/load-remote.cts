// For CommonJS: `const { remoteFace } = await require("kinetoscope/remote").load()`.

type Entry = typeof import("./remote-public.js", { with: { "resolution-mode": "import" } });

/** Loads this entry, which is an ES module. */
function load(): Promise<Entry> {
  return import("./remote-public.js");
}

export = { load };
