// A trace of `kinetoscope/lite`.

import type { EngineTrace } from "../generated/glue/lite.js";
import { AnsweringTrace, addMethods } from "./answers.js";
import type { Answers } from "../generated/queries.js";

/** The queries that the small engine answers. */
export const LITE_QUERIES = ["summary", "ops", "tracks"] as const;

export type LiteQuery = (typeof LITE_QUERIES)[number];

/** A trace. It uses memory of the engine until it is disposed of. */
export class LiteTrace extends AnsweringTrace<EngineTrace, LiteQuery> {}

export interface LiteTrace extends Pick<Answers, LiteQuery> {}

addMethods(LiteTrace, LITE_QUERIES);
