// The built-in sample within the page.

import text from "./sample.pt.trace.json.gz?url";
import { bytesOf } from "./data-url";

/** The sample trace. */
export async function sample(): Promise<File> {
  return new File([bytesOf(text)], "sample.pt.trace.json.gz");
}
