//! How large a part of a trace may be before it is skipped and counted.

/// Bounds that keep a hostile or huge file from exhausting memory or the stack. Past one, the event is skipped and
/// counted; past `memory_bytes`, so is the rest of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Deepest nesting of a value inside an event. At most 120.
    pub depth: usize,
    /// Longest text or nested value in an event, in bytes.
    pub text_bytes: usize,
    /// Longest event, in bytes.
    pub event_bytes: usize,
    /// Longest value beside `traceEvents`, in bytes.
    pub metadata_bytes: usize,
    /// Most memory that the trace may come to hold, in bytes; reading stops before it would hold more.
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
    /// With another deepest nesting.
    #[must_use]
    pub fn with_depth(self, depth: usize) -> Limits {
        Limits { depth, ..self }
    }

    /// With another longest text.
    #[must_use]
    pub fn with_text_bytes(self, text_bytes: usize) -> Limits {
        Limits { text_bytes, ..self }
    }

    /// With another longest event.
    #[must_use]
    pub fn with_event_bytes(self, event_bytes: usize) -> Limits {
        Limits { event_bytes, ..self }
    }

    /// With another longest value beside `traceEvents`.
    #[must_use]
    pub fn with_metadata_bytes(self, metadata_bytes: usize) -> Limits {
        Limits { metadata_bytes, ..self }
    }

    /// With another amount of memory.
    #[must_use]
    pub fn with_memory_bytes(self, memory_bytes: usize) -> Limits {
        Limits { memory_bytes, ..self }
    }
}
