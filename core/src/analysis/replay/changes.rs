//! What a replay changes.

use super::graph::Dependency;
use super::path::PathPart;
use crate::analysis::device::classes::Class;
use crate::analysis::device::idle::Cause;
use crate::base::order::sort_by_key;
use crate::base::words::Word;
use crate::trace::kernel_rules::KernelCategory;
use crate::trace::table::events::Row;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// Work of devices that is faster than recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Faster {
    /// A class or category of work, or a part of the names, in lower case.
    pub work: String,
    /// How much faster: 2 halves the durations.
    pub factor: f64,
}

impl Faster {
    /// Whether this work of a class is meant.
    pub(super) fn fits(&self, class: Class, category: KernelCategory, name: &str) -> bool {
        Class::from_option_value(&self.work) == Some(class)
            || KernelCategory::from_option_value(&self.work) == Some(category)
            || name.to_ascii_lowercase().contains(&self.work)
    }
}

/// The factors that make sense.
const FACTORS: RangeInclusive<f64> = 1e-3..=1e6;

/// What is different in a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Work of devices that is faster.
    pub faster: Vec<Faster>,
    /// Activities that are faster, in order, each with its factor.
    pub(crate) faster_rows: Vec<(Row, f64)>,
    /// Causes of waiting whose time on the host is 0.
    pub free: Vec<Cause>,
    /// Delays that are 0, as parts of the critical path.
    pub free_delays: Vec<PathPart>,
    /// Work that computes or copies does not wait for communication.
    pub overlap_communication: bool,
    /// The host starts all work of a step at once: launches, operators, autograd, optimizers and other code of the host
    /// take no time.
    pub cuda_graph: bool,
    /// Kernel sequences that are one kernel each, by their numbers in `sequences`. Their kernels take as long as before.
    pub fuse: Vec<usize>,
}

/// What a CUDA graph leaves out.
const IN_GRAPH: [Cause; 6] =
    [Cause::Launch, Cause::Operator, Cause::Optimizer, Cause::Autograd, Cause::UserCode, Cause::Unknown];

/// The parts of the critical path that are delays between two points.
const DELAYS: [PathPart; 6] = [
    PathPart::LaunchDelay,
    PathPart::KernelGap,
    PathPart::StreamWait,
    PathPart::SynchronizationDelay,
    PathPart::QueueFull,
    PathPart::ThreadDelay,
];

/// What `--free` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Free {
    /// A cause of idle time.
    Cause(Cause),
    /// A delay of the critical path.
    Delay(PathPart),
}

impl Changes {
    /// The change that takes away causes and delays.
    pub fn free(freed: &[Free]) -> Changes {
        let mut changes = Changes::default();
        for &freed in freed {
            match freed {
                Free::Cause(cause) => changes.free.push(cause),
                Free::Delay(part) => changes.free_delays.push(part),
            }
        }
        changes
    }

    /// The change that makes activities faster, each by a factor.
    pub(crate) fn faster(mut faster_rows: Vec<(Row, f64)>) -> Changes {
        sort_by_key(&mut faster_rows, |faster| (i64::from(faster.0), 0));
        Changes { faster_rows, ..Changes::default() }
    }

    /// The change that leaves nothing of the work of some classes.
    pub(crate) fn without_classes(classes: &[Class]) -> Changes {
        let faster = |class: &Class| Faster { work: class.as_str().to_owned(), factor: *FACTORS.end() };
        Changes { faster: classes.iter().map(faster).collect(), ..Changes::default() }
    }

    /// The host takes no time, except where it waits.
    pub(crate) fn without_host() -> Changes {
        Changes { cuda_graph: true, ..Changes::without(Cause::DataLoading) }
    }

    /// Everything takes no time: all causes and delays are free, and devices are as fast as can be.
    pub fn everything() -> Changes {
        Changes {
            free: Cause::ALL.into(),
            free_delays: DELAYS.into(),
            ..Changes::without_classes(&Class::ALL)
        }
    }

    /// Whether the delay of a dependency is 0.
    pub(super) fn is_delay_free(&self, why: Dependency) -> bool {
        match PathPart::from_delay(why) {
            PathPart::NotRecorded => self.is_free(Cause::NotRecorded),
            part => self.free_delays.contains(&part),
        }
    }

    /// The change that takes away one cause.
    pub fn without(cause: Cause) -> Changes {
        Changes { free: [cause].into(), ..Changes::default() }
    }

    /// Whether devices work as recorded.
    pub(crate) fn is_of_host(&self) -> bool {
        let is_faster = !self.faster.is_empty() || !self.faster_rows.is_empty() || !self.fuse.is_empty();
        !is_faster && !self.overlap_communication
    }

    /// Whether a cause takes no time.
    pub(super) fn is_free(&self, cause: Cause) -> bool {
        self.free.contains(&cause) || (self.cuda_graph && IN_GRAPH.contains(&cause))
    }

    /// Adds other changes.
    pub(crate) fn add(&mut self, other: &Changes) {
        self.faster.extend_from_slice(&other.faster);
        self.faster_rows.extend_from_slice(&other.faster_rows);
        sort_by_key(&mut self.faster_rows, |faster| (i64::from(faster.0), 0));
        self.free.extend_from_slice(&other.free);
        self.free_delays.extend_from_slice(&other.free_delays);
        self.overlap_communication |= other.overlap_communication;
        self.cuda_graph |= other.cuda_graph;
        self.fuse.extend_from_slice(&other.fuse);
    }

    /// Whether other changes are among these.
    pub(crate) fn covers(&self, other: &Changes) -> bool {
        let mut both = self.clone();
        both.add(&Changes { free: Vec::new(), ..other.clone() });
        both == *self && other.free.iter().all(|&cause| self.is_free(cause))
    }

    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        *self == Changes::default()
    }

    /// Parses a list such as `gemm=2,nccl=1.5`. A comma separates entries only after a factor.
    ///
    /// # Errors
    /// Returns the entry that is malformed.
    pub fn parse_faster(text: &str) -> Result<Vec<Faster>, String> {
        let mut all = Vec::new();
        let mut name = String::new();
        for part in text.split(',') {
            name = if name.is_empty() { part.to_owned() } else { format!("{name},{part}") };
            let entry = name.rsplit_once('=');
            let factor = entry.and_then(|(_, factor)| factor.trim().parse::<f64>().ok());
            if let (Some((work, _)), Some(factor)) = (entry, factor) {
                if !FACTORS.contains(&factor) || work.trim().is_empty() {
                    return Err(name);
                }
                all.push(Faster { work: work.trim().to_ascii_lowercase(), factor });
                name = String::new();
            }
        }
        if name.is_empty() { Ok(all) } else { Err(name) }
    }

    /// Parses a cause or a delay as the value of an option; `sync` is short for `synchronization`.
    pub fn parse_free(text: &str) -> Option<Free> {
        match text.trim() {
            "sync" => Some(Free::Cause(Cause::Synchronization)),
            value => {
                let delay = || PathPart::from_option_value(value).filter(|part| DELAYS.contains(part));
                Cause::from_option_value(value).map(Free::Cause).or_else(|| delay().map(Free::Delay))
            }
        }
    }
}
