//! The typed options of every export, and their defaults.

use super::answer_options::CALL_SITES;
use super::options::{Fallback, Opt, Options, Takes, Typed};
use crate::analysis::torch::stacks::Metric;
use crate::base::words::words;
use alloc::string::String;
use alloc::vec::Vec;

/// Options of `chrome`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChromeOptions {
    /// Add the computed counters: launch queues, bandwidth, activity and memory of devices.
    pub counters: bool,
    /// Add the critical path as a track.
    pub critical_path: bool,
}

const COUNTERS: Opt = Opt::new(
    "counters",
    "",
    Takes::Nothing,
    "Add counters of launch queues, bandwidth, activity and memory of devices",
);
const CRITICAL_PATH: Opt =
    Opt::new("critical-path", "", Takes::Nothing, "Add the critical path as a track of its own");

impl Typed for ChromeOptions {
    const DECLARED: &'static [Opt] = &[COUNTERS, CRITICAL_PATH];

    fn of(given: &Options, _: bool) -> Self {
        ChromeOptions { counters: given.flag(&COUNTERS), critical_path: given.flag(&CRITICAL_PATH) }
    }
}

/// Options of `csv`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsvOptions {
    /// Write texts exactly as they are, also those that a spreadsheet would run.
    pub exact: bool,
}

const EXACT: Opt = Opt::new(
    "exact",
    "",
    Takes::Nothing,
    "Write texts exactly as they are, also those that a spreadsheet would run",
);

impl Typed for CsvOptions {
    const DECLARED: &'static [Opt] = &[EXACT];

    fn of(given: &Options, _: bool) -> Self {
        CsvOptions { exact: given.flag(&EXACT) }
    }
}

/// Options of `folded`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoldedOptions {
    /// The metric that each line ends with.
    pub metric: Metric,
    /// Fold the spans of every lane instead of the recorded Python stacks.
    pub lanes: bool,
    /// Use the lines of calls instead of the lines of function definitions.
    pub call_sites: bool,
}

const METRIC: Opt = Opt::new("metric", "NAME", Takes::Word(Metric::VOCABULARY), "Metric of each line")
    .or(Fallback::Words(Metric::SelfCpuTime.as_str()));
const LANES: Opt = Opt::new(
    "lanes",
    "",
    Takes::Nothing,
    "Fold the spans of every lane instead of the recorded Python stacks",
);

impl Typed for FoldedOptions {
    const DECLARED: &'static [Opt] = &[METRIC, LANES, CALL_SITES];

    fn of(given: &Options, _: bool) -> Self {
        FoldedOptions {
            metric: given.word(&METRIC, &Metric::ALL).unwrap_or_default(),
            lanes: given.flag(&LANES),
            call_sites: given.flag(&CALL_SITES),
        }
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

/// Options of `memory-timeline`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryTimelineOptions {
    /// The format.
    pub form: TimelineForm,
    /// The device, such as `cuda:0`; `None` for the device with the most allocated memory.
    pub device: Option<String>,
}

const FORM: Opt = Opt::new(
    "form",
    "FORM",
    Takes::Word(TimelineForm::VOCABULARY),
    "`json` (times and sizes), `raw` (every allocation), or `html` (a plot)",
)
.or(Fallback::Words(TimelineForm::Json.as_str()));
const DEVICE: Opt = Opt::new("device", "NAME", Takes::Text, "Device, such as cpu or cuda:0")
    .or(Fallback::Words("the device that allocated most"));

impl Typed for MemoryTimelineOptions {
    const DECLARED: &'static [Opt] = &[FORM, DEVICE];

    fn of(given: &Options, _: bool) -> Self {
        MemoryTimelineOptions {
            form: given.word(&FORM, &TimelineForm::ALL).unwrap_or_default(),
            device: given.text(&DEVICE),
        }
    }
}

/// Options of `slice`; at least one must be given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceOptions {
    /// The first and last step, by number.
    pub steps: Option<(i64, i64)>,
    /// Start and end in ns after the start of the recording.
    pub time: Option<(i64, i64)>,
    /// Only traces of these ranks.
    pub ranks: Vec<i64>,
}

const STEPS: Opt = Opt::new("steps", "A-B", Takes::Range, "A step or a range of steps, such as 3 or 3-5");
const TIME: Opt = Opt::new(
    "time",
    "START..END",
    Takes::Times,
    "Events that begin in this range after the start of the recording, such as 1.5ms..20ms",
);
const RANKS: Opt = Opt::new("ranks", "LIST", Takes::Numbers, "Only the traces of these ranks");

impl Typed for SliceOptions {
    const DECLARED: &'static [Opt] = &[STEPS, TIME, RANKS];

    fn of(given: &Options, _: bool) -> Self {
        SliceOptions { steps: given.pair(&STEPS), time: given.pair(&TIME), ranks: given.numbers(&RANKS) }
    }
}

/// Options of `shrink`; at least one must be given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShrinkOptions {
    /// Leave out host spans shorter than this, in ns.
    pub min_duration_ns: Option<i64>,
    /// Leave out events of these categories, by the value of `cat`.
    pub drop: Vec<String>,
}

const MIN_DURATION: Opt = Opt::new(
    "min-duration",
    "TIME",
    Takes::Duration,
    "Leave out host spans shorter than this, launch calls among them, such as 10us",
);
const DROP: Opt =
    Opt::new("drop", "LIST", Takes::Texts, "Leave out events of these categories, such as python_function");

impl Typed for ShrinkOptions {
    const DECLARED: &'static [Opt] = &[MIN_DURATION, DROP];

    fn of(given: &Options, _: bool) -> Self {
        ShrinkOptions { min_duration_ns: given.number(&MIN_DURATION), drop: given.texts(&DROP) }
    }
}

/// Options of `redact`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RedactOptions {
    /// Gives equal strings of several files equal pseudonyms; `None` for a random salt.
    pub salt: Option<String>,
}

const SALT: Opt = Opt::new(
    "salt",
    "TEXT",
    Takes::Text,
    "Give equal strings of several files equal pseudonyms; use a long, secret text",
)
.or(Fallback::Words("random for each file"));

impl Typed for RedactOptions {
    const DECLARED: &'static [Opt] = &[SALT];

    fn of(given: &Options, _: bool) -> Self {
        RedactOptions { salt: given.text(&SALT) }
    }
}
