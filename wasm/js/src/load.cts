// For CommonJS: `const { open } = await require("kinetoscope").load()`.

type Package = typeof import("./node.js", { with: { "resolution-mode": "import" } });

/** Loads the package, which is an ES module. */
function load(): Promise<Package> {
  return import("./node.js");
}

export = { load };
