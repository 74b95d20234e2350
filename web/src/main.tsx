// The page starts here.

import { render } from "preact";
import { App } from "./app";
import { warmUp } from "./engine/open";
import { openFromAddress } from "./state/opening";
import "uplot/dist/uPlot.min.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/table.css";
import "./styles/views.css";
import "./styles/timeline.css";

warmUp();
render(<App />, document.getElementById("app") as HTMLElement);
void openFromAddress();
