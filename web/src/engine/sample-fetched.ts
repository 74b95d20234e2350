// The built-in sample as a file beside the page.

import url from "../../../tests/data/candle/training.pt.trace.json.gz?url";

/** The sample trace. */
export async function sample(): Promise<File> {
  const response = await fetch(url);
  return new File([await response.blob()], "candle-training.pt.trace.json.gz");
}
