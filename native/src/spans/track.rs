//! Tracks that are not threads: the program supplies the times of their spans.

use super::SpanArguments;
#[cfg(feature = "record")]
use super::{Args, Site, SpanKind, recorder};
#[cfg(feature = "record")]
use crate::hot::text::up_to;
use std::ops::Range;

/// The maximum length of a track's name, in bytes.
#[cfg(feature = "record")]
const NAME_BYTES: usize = 4096;

/// A track of the timeline that is not a thread, such as the queue of a GPU. The program supplies the begin and the end of
/// each span, usually after the work has ended.
///
/// Tracks with the same name are one track. Spans of a track should nest; if they overlap otherwise, the timeline shows
/// them on extra lanes, and the trace has the diagnostic `overlapping_spans`. The spans have the category `track_span`, are
/// not operators, and are not in tables of operators or of device work. One costs 90 ns, with two arguments 150 ns.
/// Without the feature `record`, a track does nothing.
///
/// ```
/// use kinetoscope::{DeviceClock, Profiler, Track};
///
/// let profiler = Profiler::builder().start()?;
/// let track = Track::new("queue of the device");
/// // The device's clock shows 5,000 ns now. A pass took 700 ns and ended then.
/// let clock = DeviceClock::now(5_000);
/// track.span("pass", clock.ns(4_300)..clock.ns(5_000));
/// let recording = profiler.finish()?;
/// assert_eq!(recording.statistics.records, 1);
/// # Ok::<(), kinetoscope::RecordError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Track {
    #[cfg(feature = "record")]
    name: String,
}

impl Track {
    /// Returns the track with this name, of at most 4 KiB; a longer one is cut.
    pub fn new(name: impl AsRef<str>) -> Track {
        #[cfg(feature = "record")]
        {
            Track { name: up_to(name.as_ref(), NAME_BYTES).to_owned() }
        }
        #[cfg(not(feature = "record"))]
        {
            let _ = name;
            Track {}
        }
    }

    /// Records a span if a profiler records now. The times are in ns since 1970, as [`now_ns`] and [`DeviceClock::ns`]
    /// return them.
    ///
    /// A span that ends before its begin is recorded with the duration 0, and the trace has the diagnostic
    /// `negative_duration`. Times beyond 2^62 ns are left out when the trace is read, with the diagnostic `time_out_of_range`.
    #[inline]
    pub fn span(&self, name: &str, times: Range<i64>) {
        self.span_with(name, times, |_| ());
    }

    /// The same as [`span`](Self::span), with arguments, which `add` adds. It is called only while a profiler records.
    ///
    /// ```
    /// # let track = kinetoscope::Track::new("queue");
    /// # let (begin, end) = (0, 1);
    /// track.span_with("pass", begin..end, |args| args.value("groups", 64));
    /// ```
    #[cfg_attr(not(feature = "record"), allow(clippy::unused_self, clippy::needless_pass_by_value))]
    pub fn span_with(&self, name: &str, times: Range<i64>, add: impl FnOnce(&mut SpanArguments<'_>)) {
        #[cfg(feature = "record")]
        {
            static SITE: Site = Site::new("Track::span", SpanKind::Other, file!(), line!());
            let state = recorder::state();
            if recorder::is_on(state) {
                let mut args = Args::new(state);
                args.name(name);
                add(&mut SpanArguments::new(&mut args));
                args.track_span(&SITE, &self.name, (times.start, times.end));
            }
        }
        #[cfg(not(feature = "record"))]
        let _ = (name, times, add);
    }
}

/// Returns the present time in ns since 1970, on the clock of recordings: it does not follow changes of the system's
/// clock. 0 without the feature `record`.
#[cfg(feature = "record")]
pub fn now_ns() -> i64 {
    crate::hot::clock::unix_ns()
}

/// Returns the present time in ns since 1970, on the clock of recordings: it does not follow changes of the system's
/// clock. 0 without the feature `record`.
#[cfg(not(feature = "record"))]
pub fn now_ns() -> i64 {
    0
}

/// Converts the times of another clock, such as that of a device, to those of recordings. It is set by one pair of times
/// that both clocks showed at the same instant; clocks that drift apart need a new one now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceClock {
    device_ns: i64,
    host_ns: i64,
}

impl DeviceClock {
    /// The other clock shows this time, in ns, at this instant.
    pub fn now(device_ns: i64) -> DeviceClock {
        DeviceClock::at(device_ns, now_ns())
    }

    /// The other clock showed `device_ns` when [`now_ns`] was `host_ns`.
    pub fn at(device_ns: i64, host_ns: i64) -> DeviceClock {
        DeviceClock { device_ns, host_ns }
    }

    /// Converts a time of the other clock, in ns, to ns since 1970. A result out of range is clamped.
    pub fn ns(self, device_ns: i64) -> i64 {
        let ns = i128::from(device_ns) - i128::from(self.device_ns) + i128::from(self.host_ns);
        ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}
