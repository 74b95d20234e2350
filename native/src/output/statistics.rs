//! Statistics of the recorder about itself.

use crate::json::Members;
use std::time::Duration;

/// The recorder's statistics about a recording. Durations are wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// The duration of the recording.
    pub window: Duration,
    /// The time to prepare the recording.
    pub prepare: Duration,
    /// The time to start recording.
    pub enable: Duration,
    /// The time to stop recording and to write the rest of the records.
    pub disable: Duration,
    /// The number of records. A span is two records.
    pub records: u64,
    /// The number of spans, events and device activities that were lost, because a memory limit was reached, CUPTI lost
    /// them, or a write failed. A span counts once, also if only its end was lost; the trace has it as
    /// unfinished then. It can count twice if buffers were full and the memory limit was reached.
    pub dropped: u64,
    /// The number of arguments that were cut or left out, because the arguments of a record exceed 64 KiB. The `args` of
    /// such an event have their number as `cut arguments`.
    pub cut_arguments: u64,
    /// The size of the recording in bytes; in the trace's own statistics without its last block.
    pub bytes: u64,
    /// The cost of a span without arguments, begin and end, in ns. It is measured once, before the first recording.
    pub overhead_ns_per_span: f64,
}

impl Statistics {
    /// Returns an estimate of the time that recording took from the program, summed over all threads: half the cost of
    /// a span for each record.
    pub fn overhead(&self) -> Duration {
        Duration::from_nanos((self.records as f64 * self.overhead_ns_per_span / 2.0) as u64)
    }

    /// Returns the members of the statistics in the trace.
    pub(crate) fn members(self) -> Members {
        let mut members = Members::default();
        members.number("window_ns", self.window.as_nanos());
        members.number("prepare_ns", self.prepare.as_nanos());
        members.number("enable_ns", self.enable.as_nanos());
        members.number("disable_ns", self.disable.as_nanos());
        members.number("records", self.records);
        members.number("dropped", self.dropped);
        members.number("cut_arguments", self.cut_arguments);
        members.number("bytes", self.bytes);
        members.number("overhead_ns_per_span", self.overhead_ns_per_span);
        members.number("overhead_ns", self.overhead().as_nanos());
        members
    }
}
