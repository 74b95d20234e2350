// Projects in which the packed package is installed, and pages that are opened in Chromium.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, target } from "./files.js";

export const tools = `${root}tests/js/node_modules`;

export const run = (folder, program, ...args) =>
  execFileSync(program, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** Runs npm without its notices. */
const npm = (folder, ...args) => run(folder, "npm", ...args, "--loglevel=error", "--no-audit", "--no-fund");

/** Packs the package into a folder, for projects below it. */
export function installer(name) {
  const place = `${target}/${name}`;
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  let packed;

  function tarball() {
    if (packed) return packed;
    npm(`${root}wasm/js`, "pack", "--pack-destination", place);
    return (packed = join(
      place,
      readdirSync(place).find((name) => name.endsWith(".tgz")),
    ));
  }

  /** Creates a project with the package and some files, and returns its folder. */
  function project(name, files, manifest = {}) {
    const folder = join(place, name);
    mkdirSync(join(folder, "src"), { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name, private: true, ...manifest }));
    npm(folder, "install", tarball());
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
    return folder;
  }

  return { place, tarball, project };
}

export const MEDIA_TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/** Returns the title that a page sets. */
export async function titleOf(browser, address) {
  const page = await browser.newPage();
  const messages = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  try {
    await page.goto(address);
    await page.waitForFunction(() => !["waiting", "Trace"].includes(document.title), undefined, { timeout: 30_000 });
    return await page.title();
  } catch (error) {
    throw new Error(`${error.message}\n${messages.join("\n")}`);
  } finally {
    await page.close();
  }
}
