//! The typed options of the queries about replays.

use super::answer_options::{ROW_LIMIT, TIME};
use super::options::{Opt, Options, Takes, Typed};
use crate::analysis::replay::Changes;
use crate::base::error::Error;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Options of `critical-path`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CriticalPathOptions {
    /// The number of the profiler step; `None` for the complete trace, or the range of time.
    pub step: Option<i64>,
    /// Start and end in ns after the start of the recording.
    pub time: Option<(i64, i64)>,
    /// One row for each period, in the order of time, instead of one for each part.
    pub periods: bool,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

pub(super) const STEP: Opt = Opt::new("step", "N", Takes::Count, "Only the profiler step with this number");
const PERIODS: Opt =
    Opt::new("periods", "", Takes::Nothing, "List each period with its event, in the order of time");

impl Typed for CriticalPathOptions {
    const DECLARED: &'static [Opt] = &[STEP, TIME, PERIODS, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        CriticalPathOptions {
            step: given.number(&STEP),
            time: given.pair(&TIME),
            periods: given.flag(&PERIODS),
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}

/// Options of `what-if`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WhatIfOptions {
    /// Work of devices that is faster: entries of a class or a part of a name, `=`, and a factor, separated by commas.
    pub faster: Option<String>,
    /// Causes of idle time that take no time on the host.
    pub free: Vec<String>,
    /// Work that computes or copies does not wait for communication.
    pub overlap_communication: bool,
    /// The host starts all work of a step at once.
    pub cuda_graph: bool,
    /// Kernel sequences that are one kernel each, by their numbers in `sequences`.
    pub fuse: Vec<i64>,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

const FASTER: Opt = Opt::new(
    "faster",
    "KERNEL=N,...",
    Takes::Text,
    "Kernels are N times faster: a part of their names, or a class or category of `kernels`",
);
const FREE: Opt = Opt::new(
    "free",
    "CAUSE,...",
    Takes::Texts,
    "These causes of `idle` take no time on the host, such as data-loading,sync",
);
const OVERLAP: Opt = Opt::new(
    "overlap-communication",
    "",
    Takes::Nothing,
    "Work that computes or copies does not wait for communication",
);
const CUDA_GRAPH: Opt = Opt::new(
    "cuda-graph",
    "",
    Takes::Nothing,
    "The host starts all work at once: launches, operators and other code take no time",
);

const FUSE: Opt = Opt::new(
    "fuse",
    "LIST",
    Takes::Numbers,
    "Each of these sequences is one kernel, by their numbers in `sequences` with its defaults",
);

impl Typed for WhatIfOptions {
    const DECLARED: &'static [Opt] = &[FASTER, FREE, OVERLAP, CUDA_GRAPH, FUSE, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        WhatIfOptions {
            faster: given.text(&FASTER),
            free: given.texts(&FREE),
            overlap_communication: given.flag(&OVERLAP),
            cuda_graph: given.flag(&CUDA_GRAPH),
            fuse: given.numbers(&FUSE),
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}

impl WhatIfOptions {
    /// Returns the changes that the options describe.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] with the entry that is malformed, or names no cause.
    pub(super) fn changes(&self) -> Result<Changes, Error> {
        let wrong = |entry: String| {
            Error::BadOption(format!(
                "faster: expected NAME=FACTOR, with a factor from 0.001 to 1000000, not {entry:?}"
            ))
        };
        let cause = |text: &String| {
            Changes::parse_cause(text)
                .ok_or_else(|| Error::BadOption(format!("free: there is no cause {text:?}")))
        };
        Ok(Changes {
            faster: self.faster.as_deref().map_or(Ok(Vec::new()), Changes::parse_faster).map_err(wrong)?,
            free: self.free.iter().map(cause).collect::<Result<_, _>>()?,
            overlap_communication: self.overlap_communication,
            cuda_graph: self.cuda_graph,
            fuse: self.fuse.iter().map(|&number| usize::try_from(number).unwrap_or(0)).collect(),
        })
    }
}
