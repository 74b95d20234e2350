// A VS Code extension that opens traces in a custom editor. The webview reads the file itself, so it does not pass through the extension.

import * as vscode from "vscode";
import { page } from "./page.js";

export function activate(context) {
  const editor = {
    openCustomDocument: (uri) => ({ uri, dispose: () => undefined }),
    resolveCustomEditor(document, { webview }) {
      const dist = vscode.Uri.joinPath(context.extensionUri, "dist");
      const folder = vscode.Uri.joinPath(document.uri, "..");
      webview.options = { enableScripts: true, localResourceRoots: [dist, folder] };
      const address = (name) => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
      const places = { trace: webview.asWebviewUri(document.uri).toString(), worker: address("worker.js") };
      places.engine = address("kinetoscope.wasm");
      webview.html = page(webview.cspSource, address("webview.js"), places);
    },
  };
  context.subscriptions.push(vscode.window.registerCustomEditorProvider("kinetoscope.trace", editor));
}
