// A JupyterLab extension that shows traces: files of the type, and outputs of cells with the media type.

import { Widget } from "@lumino/widgets";
import { open } from "kinetoscope/worker";

const MEDIA_TYPE = "application/vnd.kinetoscope.trace+json";

class TraceView extends Widget {
  async renderModel(model) {
    const text = model.data[MEDIA_TYPE];
    const trace = await open(new Blob([typeof text === "string" ? text : JSON.stringify(text)]));
    try {
      const table = document.createElement("pre");
      table.textContent = await trace.table("ops", { rowLimit: 20 });
      this.node.replaceChildren(table);
    } finally {
      trace.dispose();
    }
  }
}

export default {
  id: "kinetoscope:plugin",
  dataType: "string",
  rendererFactory: { safe: true, mimeTypes: [MEDIA_TYPE], createRenderer: () => new TraceView() },
  fileTypes: [{ name: "trace", extensions: [".pt.trace.json"], mimeTypes: [MEDIA_TYPE] }],
  documentWidgetFactoryOptions: { name: "Trace", primaryFileType: "trace", fileTypes: ["trace"] },
};
