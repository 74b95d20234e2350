// The sample trace inside the page, for the single-file build.

import text from "../../../tests/data/candle/training.pt.trace.json.gz?url";
import { bytesOf } from "./data-url";

/** Returns the sample trace. */
export async function sample(): Promise<File> {
  return new File([bytesOf(text)], "candle-training.pt.trace.json.gz");
}
