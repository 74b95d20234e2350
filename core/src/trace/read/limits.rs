//! Limits on the size of the parts of a trace.

use crate::trace::table::events::Table;

/// Limits that prevent a malicious or huge file from exhausting memory or the stack. An event or metadata value that
/// exceeds a limit is skipped and counted. When `memory_bytes` is reached, the rest of the trace is ignored, which is
/// counted too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum nesting of a value inside an event. Must be at most 120. The default is 100.
    pub depth: usize,
    /// The maximum length of a string or nested value in an event, in bytes. The default is 4 MiB.
    pub text_bytes: usize,
    /// The maximum length of an event, in bytes. The default is 16 MiB.
    pub event_bytes: usize,
    /// The maximum length of a top-level member other than `traceEvents`, in bytes. The default is 256 MiB.
    pub metadata_bytes: usize,
    /// The maximum memory of the trace, in bytes. Reading stops before the trace would hold more. The default is no
    /// limit.
    pub memory_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: 100,
            text_bytes: 4 << 20,
            event_bytes: 16 << 20,
            metadata_bytes: 256 << 20,
            memory_bytes: usize::MAX,
        }
    }
}

impl Limits {
    /// Sets the maximum nesting.
    #[must_use]
    pub fn with_depth(self, depth: usize) -> Limits {
        Limits { depth, ..self }
    }

    /// Sets the maximum length of a string or nested value.
    #[must_use]
    pub fn with_text_bytes(self, text_bytes: usize) -> Limits {
        Limits { text_bytes, ..self }
    }

    /// Sets the maximum length of an event.
    #[must_use]
    pub fn with_event_bytes(self, event_bytes: usize) -> Limits {
        Limits { event_bytes, ..self }
    }

    /// Sets the maximum length of a top-level member other than `traceEvents`.
    #[must_use]
    pub fn with_metadata_bytes(self, metadata_bytes: usize) -> Limits {
        Limits { metadata_bytes, ..self }
    }

    /// Sets the maximum memory.
    #[must_use]
    pub fn with_memory_bytes(self, memory_bytes: usize) -> Limits {
        Limits { memory_bytes, ..self }
    }
}

/// The memory that pairing, the tree, the links and the analyses need later per event, in bytes. The critical path needs
/// the most.
pub(super) const LATER_BYTES: usize = 136;

/// The memory that the events of a table take in the end, in bytes.
pub(super) fn memory_in_the_end(table: &Table) -> usize {
    table.heap_bytes() + table.len() * LATER_BYTES
}
