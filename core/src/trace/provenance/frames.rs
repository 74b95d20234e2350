//! The frames that Dynamo compiled, why it compiled them again, and where it broke graphs.

use super::traceback::base_name;
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
        let text = |key| metrics.get(key).and_then(Json::as_str);
        let line = metrics.get("co_firstlineno").and_then(Json::as_u64);
        let place = text("co_filename").zip(line).map(|(file, line)| format!(" {}:{line}", base_name(file)));
        let seconds = metrics.get("entire_frame_compile_time_s").and_then(Json::as_f64);
        Some(CompiledFrame {
            compile_id: text("compile_id")?.to_owned(),
            function: format!("{}{}", text("co_name").unwrap_or(""), place.unwrap_or_default()),
            recompile_reason: text("recompile_reason").filter(|reason| !reason.is_empty()).map(first_line),
            compile_ns: seconds.map(|seconds| libm::round(seconds * 1e9) as i64),
        })
    }
}

impl Break {
    pub(super) fn read(compile_id: Option<String>, text: &str) -> Option<Break> {
        let after = |text: &'static str| move |line: &str| line.strip_prefix(text).map(str::to_owned);
        let line = text.lines().find_map(after("Graph break in user code at "))?;
        let mut rest = text.lines().skip_while(|line| !line.starts_with("Graph Break Reason: "));
        let first = rest.next().and_then(after("Graph Break Reason: ")).unwrap_or_default();
        // The line of the reason states what was traced; the next one what is not supported.
        let detail = rest.map(str::trim).find(|line| !line.is_empty());
        let detail = detail.filter(|_| first.starts_with("Encountered graph break"));
        Some(Break { compile_id, line, reason: detail.map_or(first, str::to_owned) })
    }
}

/// The first line of a text, with single blanks between its words.
fn first_line(text: &str) -> String {
    let words: Vec<&str> = text.lines().next().unwrap_or("").split_whitespace().collect();
    words.join(" ")
}
