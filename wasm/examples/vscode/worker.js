// The worker of the webview. Its first message is the code of the engine, the others are requests.

import * as client from "kinetoscope/init";
import { serve } from "kinetoscope/serve";

const handle = serve(self, client);

self.onmessage = ({ data }) => {
  if ("engine" in data) void client.init(data.engine);
  else void handle(data);
};
