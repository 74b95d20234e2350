// The sample trace as a separate file that is fetched.

import url from "../../../tests/data/candle/training.pt.trace.json.gz?url";

/** Fetches the sample trace. */
export async function sample(): Promise<File> {
  const response = await fetch(url);
  return new File([await response.blob()], "candle-training.pt.trace.json.gz");
}
