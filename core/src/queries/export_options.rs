//! The typed options of every export, and their defaults.

use crate::analysis::query::options::{Fallback, Opt, options};
use crate::analysis::query::value::ValueKind;
use crate::analysis::torch::stacks::{CALL_SITES, Metric};
use crate::base::words::words;
use alloc::string::String;
use alloc::vec::Vec;

options! {
    /// Options of `chrome`.
    pub struct ChromeOptions {
        /// Add the computed counters: launch queues, bandwidth, activity and memory of devices.
        pub counters: bool = Opt::flag(
            "counters",
            "Add counters of launch queues, bandwidth, activity and memory of devices",
        ),
        /// Add the critical path as a track.
        pub critical_path: bool = Opt::flag("critical-path", "Add the critical path as a track of its own"),
    }
}

options! {
    /// Options of `csv`.
    pub struct CsvOptions {
        /// Write texts exactly as they are, also those that a spreadsheet would run.
        pub exact: bool =
            Opt::flag("exact", "Write texts exactly as they are, also those that a spreadsheet would run"),
    }
}

options! {
    /// Options of `folded`.
    pub struct FoldedOptions {
        /// The metric that each line ends with.
        pub metric: Metric =
            Opt::new("metric", "NAME", ValueKind::Attribute(Metric::VOCABULARY), "Metric of each line")
                .or(Fallback::Words(Metric::SelfCpuTime.as_str())),
        /// Fold the spans of every lane instead of the recorded Python stacks.
        pub lanes: bool =
            Opt::flag("lanes", "Fold the spans of every lane instead of the recorded Python stacks"),
        /// Use the lines of calls instead of the lines of function definitions.
        pub call_sites: bool = CALL_SITES,
    }
}

words! {
    "MemoryTimelineForm"
    /// The formats of PyTorch's `export_memory_timeline`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum TimelineForm {
        /// Times and sizes.
        #[default]
        Json = "json",
        /// Every allocation.
        Raw = "raw",
        /// An HTML page with a plot.
        Html = "html",
    }
}

options! {
    /// Options of `memory-timeline`.
    pub struct MemoryTimelineOptions {
        /// The format.
        pub form: TimelineForm = Opt::word::<TimelineForm>(
            "form",
            "FORM",
            "`json` (times and sizes), `raw` (every allocation), or `html` (a plot)",
        ),
        /// The device, such as `cuda:0`; `None` for the device with the most allocated memory.
        pub device: Option<String> = Opt::text("device", "NAME", "Device, such as cpu or cuda:0")
            .or(Fallback::Words("the device that allocated most")),
    }
}

options! {
    /// Options of `slice`; at least one must be given.
    pub struct SliceOptions {
        /// The first and last step, by number.
        pub steps: Option<(i64, i64)> =
            Opt::new("steps", "A-B", ValueKind::Range, "A step or a range of steps, such as 3 or 3-5"),
        /// Start and end in ns after the start of the recording.
        pub time: Option<(i64, i64)> = Opt::new(
            "time",
            "START..END",
            ValueKind::Times,
            "Events that begin in this range after the start of the recording, such as 1.5ms..20ms",
        ),
        /// Only traces of these ranks.
        pub ranks: Vec<i64> =
            Opt::new("ranks", "LIST", ValueKind::Numbers, "Only the traces of these ranks"),
    }
}

options! {
    /// Options of `shrink`; at least one must be given.
    pub struct ShrinkOptions {
        /// Leave out host spans shorter than this, in ns.
        pub min_duration_ns: Option<i64> = Opt::new(
            "min-duration",
            "TIME",
            ValueKind::Duration,
            "Leave out host spans shorter than this, launch calls among them, such as 10us",
        ),
        /// Leave out events of these categories, by the value of `cat`.
        pub drop: Vec<String> = Opt::new(
            "drop",
            "LIST",
            ValueKind::Texts,
            "Leave out events of these categories, such as python_function",
        ),
    }
}

options! {
    /// Options of `redact`.
    pub struct RedactOptions {
        /// Gives equal strings of several files equal pseudonyms; `None` for a random salt.
        pub salt: Option<String> = Opt::text(
            "salt",
            "TEXT",
            "Give equal strings of several files equal pseudonyms; use a long, secret text",
        )
        .or(Fallback::Words("random for each file")),
    }
}
