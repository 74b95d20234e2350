//! The places of a step: a tree that all steps share, with a sample for each place and step.

use super::Periods;
use crate::analysis::device::idle::whole_cause;
use crate::analysis::intervals::Interval;
use crate::base::index::Index;
use crate::base::names::{NameId, Names};
use crate::runs::compare::kinds::RowKind;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use crate::trace::table::layout::Key;
use crate::trace::table::tracks::plain;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// A place. Its children have higher indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProfileNode {
    pub(crate) parent: u32,
    pub(crate) kind: RowKind,
    pub(crate) name: NameId,
    /// The input shapes of an operator, as JSON; empty if unknown.
    pub(crate) shape: NameId,
    /// The types of the inputs of an operator, as JSON; of device work, the stream.
    pub(crate) types: NameId,
    /// What the time inside it counts as, whatever runs there.
    pub(crate) is_whole: bool,
}

impl ProfileNode {
    /// A place without inputs.
    pub(super) fn plain(parent: u32, kind: RowKind, name: NameId) -> ProfileNode {
        ProfileNode { parent, kind, name, shape: NameId::EMPTY, types: NameId::EMPTY, is_whole: false }
    }
}

/// What ran at a place in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sample {
    pub(crate) node: u32,
    pub(crate) step: u32,
    pub(crate) count: u32,
    /// The part of the wall time of the step, or of the busy time of a device, that is attributed to the place, in ns.
    pub(crate) ns: i64,
    /// The sum of the self times of spans, or of the durations of activities, in ns.
    pub(crate) sum_ns: i64,
}

/// The step itself: what the main thread does outside of all spans.
pub(crate) const ROOT: u32 = 0;
/// What other threads do.
pub(crate) const OTHER_THREADS: u32 = 1;
/// Device work without a launch in the step.
pub(crate) const DEVICES: u32 = 2;
/// What the main thread does outside of all spans while a collective of the host is in flight.
pub(crate) const IN_FLIGHT: u32 = 3;
/// The name of [`IN_FLIGHT`].
pub(crate) const COLLECTIVE_IN_FLIGHT: &str = "(outside of spans, collective in flight)";
/// The places that every step has. All other places follow them.
pub(crate) const ROOTS: [u32; 4] = [ROOT, OTHER_THREADS, DEVICES, IN_FLIGHT];
/// Not in a step.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// The places of all steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Places {
    pub(crate) nodes: Vec<ProfileNode>,
    pub(crate) samples: Vec<Sample>,
    /// The texts of the nodes, by their ids.
    pub(crate) texts: Vec<String>,
}

/// The places of one name under one parent: a list, linked by [`Builder::next`].
#[derive(Clone, Copy)]
struct Family {
    /// The span of the parent that the last one was under.
    under: i64,
    first: u32,
    /// The place of the last one; [`NOWHERE`] before the first.
    current: u32,
}

/// Collects places.
pub(super) struct Builder<'a> {
    pub(super) trace: &'a Trace,
    names: Names,
    /// The ids of the names of the table in `names`, plus one; 0 where not needed so far.
    known: Vec<u32>,
    nodes: Vec<ProfileNode>,
    families: Vec<Family>,
    family_of: Index,
    /// The next place of the family of each node.
    next: Vec<u32>,
    samples: Vec<Sample>,
    /// The last sample of each node.
    last: Vec<u32>,
    /// The node of each span of the host.
    pub(super) of_row: Vec<u32>,
}

/// The number of places from which spans of one name under one parent share a place.
const MOST_PLACES: usize = 1 << 18;

/// The number of places after which what is new counts for its parent.
const MOST_NODES: usize = 1 << 20;

impl<'a> Builder<'a> {
    pub(super) fn new(trace: &'a Trace) -> Builder<'a> {
        let mut names = Names::default();
        let nodes = roots(&mut names);
        Builder {
            trace,
            names,
            known: vec![0; trace.table.names.len()],
            families: Vec::new(),
            family_of: Index::default(),
            next: vec![NOWHERE; nodes.len()],
            samples: Vec::new(),
            last: vec![u32::MAX; nodes.len()],
            of_row: vec![NOWHERE; trace.table.len()],
            nodes,
        }
    }

    fn push(&mut self, node: ProfileNode) {
        self.nodes.push(node);
        self.last.push(u32::MAX);
        self.next.push(NOWHERE);
    }

    pub(super) fn node(&self, at: u32) -> &ProfileNode {
        &self.nodes[at as usize]
    }

    fn name(&mut self, row: Row) -> NameId {
        let table = &self.trace.table;
        let known = &mut self.known[table.name_id(row).0 as usize];
        if *known == 0 {
            *known = self.names.intern(table.name(row)).0 + 1;
        }
        NameId(*known - 1)
    }

    /// Returns the place of a span or an activity under its parent. `under` is the same for all that belong to one span of
    /// the parent. `text` is its name where that is not the name of the event.
    pub(super) fn place(
        &mut self,
        row: Row,
        kind: RowKind,
        (parent, under): (u32, i64),
        text: Option<&str>,
    ) -> u32 {
        let name = match text {
            Some(text) => self.names.intern(text),
            None => self.name(row),
        };
        let key = (i64::from(parent) << 32 | i64::from(name.0), kind as i64);
        let family = self.family_of.get_or_insert(key, self.families.len() as u32) as usize;
        if family == self.families.len() {
            self.families.push(Family { under, first: NOWHERE, current: NOWHERE });
        }
        let Family { under: last, first, current } = self.families[family];
        let is_first = last != under || current == NOWHERE;
        let known = if is_first { first } else { self.next[current as usize] };
        let node = if known != NOWHERE {
            known
        } else if !is_first && self.nodes.len() >= MOST_PLACES {
            current
        } else if self.nodes.len() >= MOST_NODES {
            return parent;
        } else {
            let node = self.nodes.len() as u32;
            let (shape, types) = self.inputs(row, kind);
            let is_whole = whole_cause(self.trace.table.category(row), self.trace.table.name(row)).is_some();
            self.push(ProfileNode { parent, kind, name, shape, types, is_whole });
            if !is_first {
                self.next[current as usize] = node;
            }
            node
        };
        self.families[family] =
            Family { under, first: if first == NOWHERE { node } else { first }, current: node };
        node
    }

    /// The shapes and types of the inputs of an operator, or the stream of device work.
    fn inputs(&mut self, row: Row, kind: RowKind) -> (NameId, NameId) {
        let table = &self.trace.table;
        let text = |key| table.field(row, key).and_then(|value| value.as_json()).unwrap_or("");
        let (shape, types) = match kind {
            RowKind::Operator => (text(Key::InputDims), text(Key::InputType)),
            kind if kind.is_on_device() => ("", plain(&table.names, table.track(row).tid)),
            _ => ("", ""),
        };
        let mut intern = |json: &str| {
            let json: String = json.chars().filter(|c| !c.is_whitespace()).collect();
            self.names.intern(&json)
        };
        (intern(shape), intern(types))
    }

    /// Adds to the sample of a place in a step.
    pub(super) fn add(&mut self, node: u32, step: usize, count: u32, (ns, sum_ns): (i64, i64)) {
        let step = step as u32;
        let last = self.last[node as usize];
        if let Some(sample) = self.samples.get_mut(last as usize).filter(|sample| sample.step == step) {
            sample.count = sample.count.saturating_add(count);
            sample.ns += ns;
            sample.sum_ns += sum_ns;
            return;
        }
        self.last[node as usize] = self.samples.len() as u32;
        self.samples.push(Sample { node, step, count, ns, sum_ns });
    }

    /// Adds a time, which may be empty, to each step that it is in.
    pub(super) fn add_period(&mut self, periods: &Periods, node: u32, time: Interval) {
        if time.0 < time.1 {
            periods.parts(time, |step, (start, end)| self.add(node, step, 0, (end - start, 0)));
        }
    }

    pub(super) fn finish(self) -> Places {
        Places { nodes: self.nodes, samples: self.samples, texts: texts(&self.names) }
    }
}

/// Returns the places of [`ROOTS`].
pub(super) fn roots(names: &mut Names) -> Vec<ProfileNode> {
    let root = |name| ProfileNode::plain(ROOT, RowKind::Other, names.intern(name));
    ["(outside of spans)", "(other threads)", "(devices)", COLLECTIVE_IN_FLIGHT].map(root).into()
}

/// Returns all names, by their ids.
pub(super) fn texts(names: &Names) -> Vec<String> {
    (0..names.len()).map(|id| names.get(NameId(id as u32)).into()).collect()
}

impl Places {
    pub(crate) fn text(&self, id: NameId) -> &str {
        &self.texts[id.0 as usize]
    }
}

/// Returns the kind of a span of the host.
pub(super) fn host_kind(category: Category) -> RowKind {
    match category {
        Category::CpuOp => RowKind::Operator,
        Category::PythonFunction => RowKind::Python,
        Category::Runtime | Category::Driver => RowKind::Runtime,
        _ => RowKind::Range,
    }
}
