//! Generates the labels and explanations of vocabularies in the npm package.

use kinetoscope_core::analysis::device::idle::Cause;
use kinetoscope_core::analysis::query::question::Question;
use kinetoscope_core::analysis::replay::PathPart;
use std::fmt::Write;

const HEAD: &str = "// Written by `BLESS=1 cargo test -p kinetoscope-tests --test engine typescript` from the engine's vocabularies.

import type { Cause, FitnessQuestion, PathPart } from \"./queries.js\";

/** A word of an answer for people. */
export interface WordText {
  /** The word with blanks, as tables show it. */
  readonly label: string;
  /** What it means. */
  readonly about: string;
}
";

/// Returns the text of `wasm/js/src/generated/words.ts`.
pub fn words_ts() -> String {
    let mut out = HEAD.to_owned();
    let causes = Cause::ALL.map(|cause| (cause.as_str(), cause.label(), cause.about()));
    table(&mut out, "Why a device or a stream was idle.", ("IDLE_CAUSES", "Cause"), &causes);
    let parts = PathPart::ALL.map(|part| (part.as_str(), part.label(), part.about()));
    table(&mut out, "What bounds a part of the critical path.", ("PATH_PARTS", "PathPart"), &parts);
    let questions = Question::ALL.map(|question| (question.as_str(), question.label(), question.about()));
    table(&mut out, "What a trace can answer or not.", ("QUESTIONS", "FitnessQuestion"), &questions);
    out
}

fn table(out: &mut String, about: &str, (name, of): (&str, &str), words: &[(&str, String, &str)]) {
    let _ = writeln!(out, "\n/** {about} */\nexport const {name}: Readonly<Record<{of}, WordText>> = {{");
    for (word, label, about) in words {
        let _ = writeln!(out, "  {word}: {{ label: {label:?}, about: {about:?} }},");
    }
    out.push_str("};\n");
}
