//! What the recorder reports about itself.

use serde_json::{Value, json};
use std::time::Duration;

/// What the recorder tells about itself. Durations are wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// How long was recorded.
    pub window: Duration,
    /// How long it took to make recording ready, to switch it on, and to switch it off and write the rest.
    pub prepare: Duration,
    /// See [`Statistics::prepare`].
    pub enable: Duration,
    /// See [`Statistics::prepare`].
    pub disable: Duration,
    /// Records: a span is two.
    pub records: u64,
    /// Records that found no room.
    pub dropped: u64,
    /// Bytes of the recording.
    pub bytes: u64,
    /// What a span without arguments costs, begin and end, measured before the recording, in ns.
    pub overhead_ns_per_span: f64,
}

impl Statistics {
    /// An estimate of how long the program recorded instead of doing its work, over all threads: half a span for each
    /// record.
    pub fn overhead(&self) -> Duration {
        Duration::from_nanos((self.records as f64 * self.overhead_ns_per_span / 2.0) as u64)
    }

    pub(crate) fn to_json(self) -> Value {
        json!({
            "window_ns": self.window.as_nanos() as u64,
            "prepare_ns": self.prepare.as_nanos() as u64,
            "enable_ns": self.enable.as_nanos() as u64,
            "disable_ns": self.disable.as_nanos() as u64,
            "records": self.records,
            "dropped": self.dropped,
            "bytes": self.bytes,
            "overhead_ns_per_span": self.overhead_ns_per_span,
            "overhead_ns": self.overhead().as_nanos() as u64,
        })
    }
}
