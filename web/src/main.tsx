// The entry point of the page.

import { render } from "preact";
import { App } from "./app";
import { showHidden } from "./components/visible";
import { warmUp } from "./engine/open";
import { keepForOffline } from "./state/offline";
import { openFromAddress } from "./state/opening";
import "uplot/dist/uPlot.min.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/table.css";
import "./styles/views.css";
import "./styles/timeline.css";

showHidden();
const warm = warmUp();
render(<App />, document.getElementById("app") as HTMLElement);
void openFromAddress();

// The single-file page needs no cache.
if (import.meta.env.MODE !== "single" && import.meta.env.PROD) void warm.then(keepForOffline);
