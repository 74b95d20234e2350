//! The frames that Dynamo compiled, why it compiled them again, and where it broke graphs.

use super::text::{base_name, count, cut, member, text};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value as Json;

/// A compilation of a frame.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompiledFrame {
    pub(crate) compile_id: String,
    /// The function and its place, such as `forward case_c.py:10`.
    pub(crate) function: String,
    /// Why a frame that was compiled before was compiled again.
    pub(crate) recompile_reason: Option<String>,
    /// How long the compilation took, in ns.
    pub(crate) compile_ns: Option<i64>,
}

/// A place where Dynamo ended a graph and began another one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Break {
    pub(crate) compile_id: Option<String>,
    /// The line, as `FILE:LINE`.
    pub(crate) line: String,
    pub(crate) reason: String,
}

impl CompiledFrame {
    pub(super) fn read(metrics: &Json) -> Option<CompiledFrame> {
        let of = |key| text(metrics, key);
        let place = of("co_filename").zip(count(metrics, "co_firstlineno"));
        let place = place.map(|(file, line)| format!(" {}:{line}", base_name(file)));
        let seconds = member(metrics, "entire_frame_compile_time_s").and_then(Json::as_f64);
        Some(CompiledFrame {
            compile_id: of("compile_id")?.to_owned(),
            function: format!("{}{}", of("co_name").unwrap_or(""), place.unwrap_or_default()),
            recompile_reason: of("recompile_reason").filter(|reason| !reason.is_empty()).map(first_line),
            compile_ns: seconds.map(|seconds| libm::round(seconds * 1e9) as i64),
        })
    }
}

impl Break {
    pub(super) fn read(compile_id: Option<String>, text: &str) -> Option<Break> {
        let line = cut(text, "Graph break in user code at ")?.1.lines().next()?;
        let reason = cut(text, "Graph Break Reason: ").or_else(|| cut(text, "Reason: "));
        let mut rest = reason.map_or("", |parts| parts.1).lines();
        let first = rest.next().unwrap_or("");
        // The first line states what was traced; the next one what is not supported.
        let detail = rest.map(str::trim).find(|line| !line.is_empty());
        let detail = detail.filter(|_| first.starts_with("Encountered graph break"));
        Some(Break { compile_id, line: line.to_owned(), reason: detail.unwrap_or(first).to_owned() })
    }
}

/// The first line of a text, with single blanks between its words.
fn first_line(text: &str) -> String {
    let words: Vec<&str> = text.lines().next().unwrap_or("").split_whitespace().collect();
    words.join(" ")
}
