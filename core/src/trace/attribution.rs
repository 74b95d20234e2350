//! Which operator device work belongs to, and what states that.
//!
//! A graph is launched by one call, which shows nothing of the operators that its kernels are of. The trace of its capture does:
//! [`Trace::join_capture`] aligns the work of each launch with the calls of a capture.

mod align;

use self::align::{Aligned, Aligner};
use super::capture::Captures;
use super::link::search::lower_bound;
use crate::base::error::Error;
use crate::base::names::Names;
use crate::base::order::sort_by_key;
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::vec::Vec;

words! {
    "OwnerSource"
    /// What states the operator of device work.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OwnerSource {
        /// The call that launched it, or its external id.
        Launch = "launch",
        /// The capture of the graph that it is a part of.
        Capture = "capture",
        /// Its name, which is that of a kernel in the files of `torch.compile`.
        Name = "kernel_name",
    }
}

/// The operator that device work belongs to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Owner<'a> {
    /// The trace that the operator is in: that of the work, or that of a capture.
    pub trace: &'a Trace,
    /// The operator; `None` if the call is in none, and if only a name states it.
    pub op: Option<Row>,
    /// The call that launched the work, or that became the node of the graph.
    pub call: Option<Row>,
    /// What states it.
    pub source: OwnerSource,
    /// The share of the graph's nodes that agree with the capture; 1 for a launch.
    pub confidence: f64,
}

/// The captures that were joined to a trace, and the work whose calls they have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attribution {
    captures: Vec<Capture>,
    /// The work that has an owner, sorted by row.
    owned: Vec<(Row, Owned)>,
}

/// The trace of a capture.
#[derive(Clone, Debug)]
struct Capture {
    trace: Trace,
    captures: Captures,
}

/// A node of a capture.
#[derive(Clone, Copy, Debug)]
struct Owned {
    capture: u32,
    node: u32,
    confidence: f32,
    /// By how much the capture is for a larger batch.
    padding: u32,
}

/// What a capture that was joined explains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Joined {
    /// The number of graph launches, and of those whose work agrees with the capture.
    pub launches: usize,
    /// The number of launches that the capture explains.
    pub explained: usize,
    /// The time of their work, and of that which has a call in the capture, in ns.
    pub time_ns: i64,
    /// The part of it that has a call.
    pub explained_ns: i64,
    /// The least share of nodes that agree, of the launches that are explained.
    pub confidence: f64,
}

impl Trace {
    /// Joins the trace of a capture of graphs that this trace launches: their work then has the operators, modules, stacks and
    /// shapes of the calls that were captured. Several captures can be joined; a launch takes the one that agrees best, and of equals
    /// that for the smallest batch.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if `other` has no capture or this trace no launch of a graph, or if no launch agrees with a
    /// capture: less than nine in ten of the nodes of the larger of both have the same names in the same order, or the capture is for
    /// a smaller batch.
    pub fn join_capture(&mut self, other: Trace) -> Result<Joined, Error> {
        let refuse = |what: &str| Err(Error::BadOption(what.into()));
        let mut names = Names::default();
        let captures = Captures::new(&other, &mut names);
        if captures.graphs.is_empty() {
            return refuse("no stream is captured in this trace");
        }
        let mut replays = align::replays(self, &mut names);
        if replays.is_empty() {
            return refuse("the trace launches no graph whose work was recorded");
        }
        let sizes = align::capture_sizes(&other, &captures);
        let mut aligner = Aligner::new(&captures, &sizes);
        let mut joined = Joined { confidence: 1.0, ..Joined::default() };
        let (mut best, mut are_too_small) = (0.0_f64, false);
        let mut owned: Vec<(Row, Owned)> = Vec::new();
        let number = self.attribution.as_ref().map_or(0, |known| known.captures.len()) as u32;
        for replay in &mut replays {
            let time = |row: Row| self.table.dur(row).max(0);
            joined.launches += 1;
            joined.time_ns += replay.work.iter().map(|&row| time(row)).sum::<i64>();
            let Aligned { confidence, padding, is_too_small, pairs } = aligner.align(replay);
            best = best.max(confidence);
            are_too_small |= is_too_small;
            if pairs.is_empty() {
                continue;
            }
            joined.explained += 1;
            joined.confidence = joined.confidence.min(confidence);
            for (at, node) in pairs {
                let row = replay.work[at];
                joined.explained_ns += time(row);
                let padding = u32::try_from(padding).unwrap_or(u32::MAX);
                owned.push((row, Owned { capture: number, node, confidence: confidence as f32, padding }));
            }
        }
        if joined.explained == 0 && are_too_small {
            return refuse(
                "the captures are for fewer requests or tokens than the iterations have that replay a graph with the same kernels",
            );
        }
        if joined.explained == 0 {
            return Err(Error::BadOption(format!(
                "no graph launch agrees with a capture: of the larger number of nodes, at most {:.0}% have the same names in order; is it of another \
                 model, batch or version?",
                best * 100.0
            )));
        }
        let attribution = self.attribution.get_or_insert_default();
        attribution.add(Capture { trace: other, captures }, owned);
        Ok(joined)
    }

    /// Whether the trace has launches of graphs, whose operators a capture can show.
    pub fn launches_graphs(&self) -> bool {
        self.links.graph_work(&self.table).next().is_some()
    }

    /// Returns the operator that device work belongs to: that of the capture of its graph, else that of its launch.
    pub fn owner(&self, work: Row) -> Option<Owner<'_>> {
        let captured = self.attribution.as_ref().and_then(|attribution| attribution.owner(work));
        captured.or_else(|| {
            let op = self.links.op(work);
            let source = match (self.named_kernel(work), op) {
                (Some(_), _) => OwnerSource::Name,
                (None, op) => op.map(|_| OwnerSource::Launch)?,
            };
            let op = op.filter(|_| source == OwnerSource::Launch);
            let call = self.links.launch(work).filter(|_| op.is_some());
            Some(Owner { trace: self, op, call, source, confidence: 1.0 })
        })
    }

    /// Returns the name of the operator that device work belongs to. A generated kernel and its operator have the same name.
    pub(crate) fn operator_name(&self, work: Row) -> Option<&str> {
        let owner = self.owner(work)?;
        let named = (owner.source == OwnerSource::Name).then(|| self.table.name(work));
        owner.op.map(|op| owner.trace.table.name(op)).or(named)
    }

    /// The traces of captures that were joined.
    pub(crate) fn captures(&self) -> impl Iterator<Item = &Trace> {
        self.attribution.iter().flat_map(|attribution| &attribution.captures).map(|capture| &capture.trace)
    }

    /// The traces of captures that were joined, with what their nodes replayed.
    pub(crate) fn replayed(&self) -> impl Iterator<Item = Replayed<'_>> {
        self.attribution.iter().flat_map(|attribution| attribution.replayed(self))
    }
}

/// What the nodes of a capture replayed.
pub(crate) struct Replayed<'a> {
    /// The trace of the capture.
    pub(crate) trace: &'a Trace,
    pub(crate) captures: &'a Captures,
    /// The launch call of each replay of each node, and the work: sorted by call and node.
    pub(crate) work: Vec<(Option<Row>, usize, Row)>,
}

impl Attribution {
    /// Adds a capture. Of work that has an owner, the more certain one stays, of equals that for the smallest batch, else the first.
    fn add(&mut self, capture: Capture, owned: Vec<(Row, Owned)>) {
        self.captures.push(capture);
        self.owned.extend(owned);
        let certain = |owned: &Owned| -i64::from((owned.confidence * 1e6) as i32);
        let padding = |owned: &Owned| i64::from(owned.padding);
        sort_by_key(&mut self.owned, |(_, owned)| (certain(owned), padding(owned)));
        sort_by_key(&mut self.owned, |(row, _)| (i64::from(*row), 0));
        self.owned.dedup_by_key(|(row, _)| *row);
    }

    fn replayed<'a>(&'a self, trace: &'a Trace) -> impl Iterator<Item = Replayed<'a>> {
        self.captures.iter().enumerate().map(|(number, capture)| {
            let is_own = |owned: &&(Row, Owned)| owned.1.capture as usize == number;
            let work = self.owned.iter().filter(is_own);
            let mut work: Vec<(Option<Row>, usize, Row)> =
                work.map(|&(row, owned)| (trace.links.launch(row), owned.node as usize, row)).collect();
            sort_by_key(&mut work, |&(call, node, _)| (call.map_or(-1, i64::from), node as i64));
            Replayed { trace: &capture.trace, captures: &capture.captures, work }
        })
    }

    fn owner(&self, work: Row) -> Option<Owner<'_>> {
        let at = lower_bound(self.owned.len(), |at| i64::from(self.owned[at].0), i64::from(work));
        let owned = self.owned.get(at).filter(|owned| owned.0 == work)?;
        Some(self.of(owned.1))
    }

    fn of(&self, owned: Owned) -> Owner<'_> {
        let Capture { trace, captures } = &self.captures[owned.capture as usize];
        let node = captures.nodes[owned.node as usize];
        Owner {
            trace,
            op: node.op,
            call: Some(node.call),
            source: OwnerSource::Capture,
            confidence: f64::from(owned.confidence),
        }
    }
}
