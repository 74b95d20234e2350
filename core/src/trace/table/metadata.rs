//! The top-level members other than `traceEvents`, kept as JSON text, and a few values that every reader sets.

use super::rank_numbers::Merged;
use alloc::string::String;
use alloc::vec::Vec;

/// The kind of elements in the file's array of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Events of a Chrome trace.
    #[default]
    Chrome,
    /// Records of PyTorch's legacy profiler: pushes, pops, marks and allocations, one list per thread.
    LegacyRecords,
    /// The events of a profiling result, as `prof.profiler.kineto_results.events()` returns them.
    KinetoEvents,
    /// Nodes of an execution trace, which have no times.
    ExecutionTrace,
}

/// The top-level members of a trace other than `traceEvents`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Metadata {
    /// The keys with the JSON texts of their values, in the order of the file.
    pub entries: Vec<(String, String)>,
    /// `baseTimeNanoseconds`: the Unix time of a `ts` of 0, in ns; 0 if the file has absolute times.
    pub base_ns: i64,
    /// Whether the file is a bare array of events.
    pub bare_array: bool,
    /// The kind of the events.
    pub source: Source,
    /// The start of the recording in ns after the base, if the source states it.
    pub origin: Option<i64>,
    /// The start and the end of the window of time that was read, in ns after the base; `None` for a complete trace.
    pub window: Option<(i64, i64)>,
    /// The number of the last entries that follow the events in the file.
    pub trailing: usize,
    /// The index of the first record of each list of records.
    pub lists: Vec<usize>,
    /// What the trace states about its ranks, if `merge` wrote it.
    pub(crate) merged: Option<Merged>,
}

impl Metadata {
    /// The JSON text of the last entry with this key.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.entries.iter().rev().find(|(k, _)| k == key).map(|(_, text)| text.as_str())
    }

    /// Whether a member follows the events in the file.
    pub fn is_trailing(&self, key: &str) -> bool {
        let leading = self.entries.len().saturating_sub(self.trailing);
        self.entries[leading..].iter().any(|(k, _)| k == key)
    }

    /// Whether an option was enabled; `None` if the file does not have the key.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.text(key).map(|v| !matches!(v, "0" | "false" | "null"))
    }
}
