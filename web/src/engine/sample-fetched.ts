// The built-in sample as a file beside the page.

import url from "./sample.pt.trace.json.gz?url";

/** The sample trace. */
export async function sample(): Promise<File> {
  const response = await fetch(url);
  return new File([await response.blob()], "sample.pt.trace.json.gz");
}
