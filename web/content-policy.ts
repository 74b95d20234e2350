// The content policy of each page, written into its head when it is built: what is not named there cannot be loaded.

import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const hashes = (html: string, tag: string): string[] =>
  [...html.matchAll(new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`, "g"))]
    .map((match) => match[1] ?? "")
    .filter((text) => text.length > 0)
    .map((text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`);

/** The policy of a page; `remote.html` narrows what it may connect to when it starts. */
function policyOf(file: string, html: string, single: boolean): string {
  const connect = file === "remote.html" ? "*" : "'self'";
  const own = (tag: string): string => [...(single ? [] : ["'self'"]), ...hashes(html, tag)].join(" ");
  return [
    "default-src 'none'",
    `script-src ${own("script")} 'wasm-unsafe-eval'`,
    `style-src ${own("style") || "'none'"}`,
    `worker-src blob:${single ? "" : " 'self'"}`,
    "img-src data: blob:",
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/** Adds the policy to every page. */
export function contentPolicy(single: boolean): Plugin {
  return {
    name: "content-policy",
    apply: "build",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        for (const [file, asset] of Object.entries(bundle)) {
          if (asset.type !== "asset" || !file.endsWith(".html")) continue;
          const html = String(asset.source);
          const meta = `<meta http-equiv="Content-Security-Policy" content="${policyOf(file, html, single)}" />`;
          if (single) asset.fileName = "kinetoscope.html";
          asset.source = html.replace('<meta charset="utf-8" />', `<meta charset="utf-8" />\n    ${meta}`);
        }
      },
    },
  };
}
