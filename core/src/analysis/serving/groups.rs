//! Sums and distributions of iterations: of a phase, or of a kind.

use super::parts::{PARTS, Part};
use super::quantile::quantile;
use super::served::Served;
use crate::analysis::device::kernel_limits::Limits;
use crate::analysis::device::peak::Bound;
use crate::base::words::words;
use alloc::vec::Vec;

words! {
    "ServingBound"
    /// What takes most of the time of iterations.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum ServingBound {
        /// Kernels that compute, nearer to the peak rate of the device than to its bandwidth.
        Compute = "compute",
        /// Kernels that compute, nearer to the bandwidth of the memory: weights, and the cache of keys and values.
        Bandwidth = "bandwidth",
        /// Kernels that compute, whose limit is not known.
        Kernels = "kernels",
        /// Communication that no kernel hides.
        Communication = "communication",
        /// Copies and memsets that no kernel hides.
        Copies = "copies",
        /// Work that was launched and has not started, while the device is idle.
        Queued = "queued",
        /// Calls that launch work, while the device is idle.
        Launch = "launch",
        /// Other work of the host in an iteration, while the device is idle.
        Host = "host",
        /// The host between iterations, while the device is idle.
        Between = "between",
    }
}

impl ServingBound {
    /// The beginning of a sentence that ends with a share of the time.
    pub(crate) fn takes(self) -> &'static str {
        match self {
            ServingBound::Compute => "kernels limited by the peak rate take",
            ServingBound::Bandwidth => "kernels limited by the memory bandwidth take",
            ServingBound::Kernels => "kernels take",
            ServingBound::Communication => "exposed communication takes",
            ServingBound::Copies => "exposed copies take",
            ServingBound::Queued => "the GPU is idle although work was launched",
            ServingBound::Launch => "the GPU is idle during launch calls",
            ServingBound::Host => "the GPU is idle while the host is elsewhere in the iterations",
            ServingBound::Between => "the GPU is idle between the iterations",
        }
    }
}

/// Iterations together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) count: usize,
    pub(crate) warm_up: usize,
    /// The rest is that of the iterations that are no warm-up; of all if there are no others.
    pub(crate) wall_ns: i64,
    pub(crate) parts_ns: [i64; PARTS],
    /// The sums, if all iterations state them.
    pub(crate) batch: Option<i64>,
    pub(crate) tokens: Option<i64>,
    pub(crate) generated: Option<i64>,
    /// The energy, if it is known of all iterations, in J.
    pub(crate) joules: Option<f64>,
    pub(crate) range_ns: i64,
    pub(crate) graphs: usize,
    pub(crate) graph_calls_ns: i64,
    /// The number of iterations that the sums are of.
    pub(crate) steady: usize,
    pub(crate) limits: Limits,
    /// The 50th, 90th and 99th percentile of the times, by nearest rank.
    pub(crate) percentiles_ns: [i64; 3],
    pub(crate) longest: Option<usize>,
}

/// The percentiles of a group.
const PERCENTILES: [usize; 3] = [50, 90, 99];

impl Group {
    /// The group of some iterations.
    pub(crate) fn new(served: &[Served], members: &[usize]) -> Group {
        let warm_up = members.iter().filter(|&&at| served[at].is_warm_up).count();
        let is_all = warm_up == members.len();
        let steady: Vec<usize> =
            members.iter().copied().filter(|&at| is_all || !served[at].is_warm_up).collect();
        let mut group = Group {
            count: members.len(),
            warm_up,
            steady: steady.len(),
            batch: Some(0),
            tokens: Some(0),
            generated: Some(0),
            joules: Some(0.0),
            ..Group::default()
        };
        for &at in &steady {
            group.add(&served[at]);
        }
        let walls = || steady.iter().map(|&at| served[at].wall_ns());
        group.percentiles_ns = PERCENTILES.map(|percent| quantile(walls(), percent).unwrap_or(0));
        group.longest = steady.iter().copied().max_by_key(|&at| served[at].wall_ns());
        group
    }

    fn add(&mut self, one: &Served) {
        let sum = |all: &mut Option<i64>, value: Option<i64>| {
            *all = all.zip(value).map(|(all, value)| all.saturating_add(value));
        };
        self.wall_ns += one.wall_ns();
        for (all, ns) in self.parts_ns.iter_mut().zip(one.parts_ns) {
            *all += ns;
        }
        sum(&mut self.batch, one.name.batch);
        sum(&mut self.tokens, one.name.tokens);
        sum(&mut self.generated, one.name.generated);
        self.joules = self.joules.zip(one.joules).map(|(all, joules)| all + joules);
        self.range_ns += one.host.1 - one.host.0;
        self.graphs += one.graphs;
        self.graph_calls_ns += one.graph_calls_ns;
        self.limits.append(&one.limits);
    }

    /// The time in which the device works.
    pub(crate) fn busy_ns(&self) -> i64 {
        self.sum(Part::is_work)
    }

    fn sum(&self, is_of: impl Fn(Part) -> bool) -> i64 {
        Part::ALL.into_iter().zip(self.parts_ns).filter(|&(part, _)| is_of(part)).map(|(_, ns)| ns).sum()
    }

    /// What takes most of the time, and how much that is; `None` without time.
    pub(crate) fn bound(&self) -> Option<(ServingBound, i64)> {
        let of = |part: Part| self.parts_ns[part as usize];
        let communication = of(Part::Communication) + of(Part::MoeDispatch);
        let kernels = self.busy_ns() - communication - of(Part::Copies);
        let all = [
            (self.kernels_bound(), kernels),
            (ServingBound::Communication, communication),
            (ServingBound::Copies, of(Part::Copies)),
            (ServingBound::Queued, of(Part::Queued)),
            (ServingBound::Launch, of(Part::Launch)),
            (ServingBound::Host, of(Part::Host)),
            (ServingBound::Between, of(Part::Between)),
        ];
        all.into_iter().rev().max_by_key(|bound| bound.1).filter(|bound| bound.1 > 0)
    }

    fn kernels_bound(&self) -> ServingBound {
        match self.limits.limit() {
            Some((Bound::Compute, _)) => ServingBound::Compute,
            Some((Bound::Memory, _)) => ServingBound::Bandwidth,
            None => ServingBound::Kernels,
        }
    }

    /// The mean of a sum over the iterations.
    pub(super) fn mean(&self, sum: i64) -> f64 {
        sum as f64 / self.steady.max(1) as f64
    }

    /// The time divided by the tokens; `None` without tokens.
    pub(super) fn time_per_token_ns(&self) -> Option<i64> {
        self.tokens.filter(|&tokens| tokens > 0).map(|tokens| self.wall_ns / tokens)
    }

    /// The energy, if readings of power are at most this far apart, in J. An iteration that is shorter has the power of those around it:
    /// for all of them together that does not matter, for some it does.
    pub(super) fn joules_by(&self, reading_ns: Option<i64>, is_all: bool) -> Option<f64> {
        let enough_ns = if is_all { self.wall_ns / 2 } else { self.percentiles_ns[0] };
        self.joules.filter(|_| reading_ns.is_some_and(|reading_ns| reading_ns <= enough_ns))
    }

    /// The share of the time that a part of it is.
    pub(super) fn share(&self, ns: i64) -> f64 {
        ns as f64 / self.wall_ns.max(1) as f64
    }

    /// A number in each second of the time.
    pub(crate) fn per_second(&self, number: Option<i64>) -> Option<f64> {
        number.filter(|_| self.wall_ns > 0).map(|number| number as f64 / (self.wall_ns as f64 / 1e9))
    }
}
