// The built-in sample within the page.

import text from "../../../tests/data/candle/training.pt.trace.json.gz?url";
import { bytesOf } from "./data-url";

/** The sample trace. */
export async function sample(): Promise<File> {
  return new File([bytesOf(text)], "candle-training.pt.trace.json.gz");
}
