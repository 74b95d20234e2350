// Writes the content security policy of each page into its head at build time.

import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const hashes = (html: string, tag: string): string[] =>
  [...html.matchAll(new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`, "g"))]
    .map((match) => match[1] ?? "")
    .filter((text) => text.length > 0)
    .map((text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`);

/** Returns the policy of a page. `remote.html` restricts `connect-src` further when it starts. */
function policyOf(file: string, html: string, single: boolean): string {
  // DuckDB's program is passed to its worker as a blob.
  const connect = file === "remote.html" ? "* blob:" : single ? "'self'" : "'self' blob:";
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

/** The first script of `remote.html`: it restricts connections to its own origin and the origin in `?trace=`. */
const NARROWING = `    <script>
      const policy = document.createElement("meta");
      const place = new URL(new URLSearchParams(location.search).get("trace") ?? ".", location.href);
      policy.httpEquiv = "Content-Security-Policy";
      policy.content = \`connect-src 'self' blob: \${/^https?:$/.test(place.protocol) ? place.origin : ""}\`;
      document.head.append(policy);
    </script>
`;

const CHARSET = '    <meta charset="utf-8" />\n';

function withPolicy(file: string, html: string, single: boolean): string {
  const meta = `    <meta http-equiv="Content-Security-Policy" content="${policyOf(file, html, single)}" />\n`;
  return html.replace(CHARSET, () => CHARSET + meta);
}

/** Adds the policy to the page, and emits `remote.html`, the same page for traces of other origins. */
export function contentPolicy(single: boolean): Plugin {
  return {
    name: "content-policy",
    apply: "build",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const page = bundle["index.html"];
        if (page?.type !== "asset") throw new Error("the bundle has no index.html");
        const html = String(page.source);
        page.source = withPolicy("index.html", html, single);
        if (single) {
          page.fileName = "kinetoscope.html";
          return;
        }
        const remote = html.replace(CHARSET, () => CHARSET + NARROWING);
        this.emitFile({ type: "asset", fileName: "remote.html", source: withPolicy("remote.html", remote, single) });
      },
    },
  };
}
