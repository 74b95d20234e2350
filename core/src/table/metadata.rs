//! What stands beside `traceEvents`: kept as JSON text, with the few values that every reader fills in.

use alloc::string::String;
use alloc::vec::Vec;

/// What the elements of the file's array of events are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Events of a Chrome trace.
    #[default]
    Chrome,
    /// Records of torch's legacy profiler: pushes, pops, marks and allocations, in a list a thread.
    LegacyRecords,
    /// The events of a profiling result, as `prof.profiler.kineto_results.events()` gives them.
    KinetoEvents,
}

/// The top-level keys of a trace other than `traceEvents`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Metadata {
    /// Each key with the JSON text of its value, in the order of the file.
    pub entries: Vec<(String, String)>,
    /// `baseTimeNanoseconds`: unix time of a `ts` of 0, in ns; 0 where the file has absolute times.
    pub base_ns: i64,
    /// The file is a bare array of events.
    pub bare_array: bool,
    /// What the events were.
    pub source: Source,
    /// The start of the recording, relative to the base, where the source says so.
    pub origin: Option<i64>,
    /// How many records there are before each list of records.
    pub lists: Vec<usize>,
}

impl Metadata {
    /// The JSON text of the last entry of this key.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.entries.iter().rev().find(|(k, _)| k == key).map(|(_, text)| text.as_str())
    }

    /// Whether an option was on; nothing where the file does not say.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.text(key).map(|v| !matches!(v, "0" | "false" | "null"))
    }
}
