// The media types of exports.

import { EXPORTS, type Exports } from "../generated/queries.js";

/** Returns the media type of an export. */
export function mediaType(name: keyof Exports): string {
  return EXPORTS[name];
}
