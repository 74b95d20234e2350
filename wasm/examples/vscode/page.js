// The page of a webview. Its origin is another one than that of its files.

export function page(files, script, places) {
  const given = JSON.stringify(places).replaceAll("'", "&#39;");
  const policy = `default-src 'none'; script-src ${files} 'wasm-unsafe-eval'; worker-src blob:; connect-src ${files}`;
  return `<!doctype html><meta charset="utf-8"><title>Trace</title>
<meta http-equiv="content-security-policy" content="${policy}">
<body data-places='${given}'><pre>Reading…</pre><script src="${script}"></script>`;
}
