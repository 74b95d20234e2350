//! Which capture the work of a graph launch agrees with, and which of its calls each kernel belongs to.
//!
//! Names are compared in order: of the work, that of its starts; of a capture, that of its calls. If both have the same names in
//! another order, as graphs with several branches do, equal names are paired in their order, and pairs count that are in the order
//! of the capture on their stream. Otherwise the longest common subsequence decides. The confidence is the number of pairs divided
//! by the larger number of nodes.
//!
//! Several captures can have the same names, such as those of the layers of a model. An engine launches them in the order in
//! which it captured them, so each launch takes the first one after that of the launch before; an iteration begins with the first
//! one. Of captures for several sizes of a batch, the smallest one that the batch of the launch fits into is taken.

use crate::base::index::Index;
use crate::base::names::{NameId, Names};
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::capture::{Captures, NODE_ID, name_of_work};
use crate::trace::iterations::Iterations;
use crate::trace::step_rules::StepName;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::FieldPlace;
use alloc::vec;
use alloc::vec::Vec;

/// The share of nodes that have to agree.
const ENOUGH: f64 = 0.9;

/// The largest table for a common subsequence, in bytes.
const LARGEST: usize = 1 << 24;

/// The range of an iteration, and what its name states.
type Step = (Row, StepName);

/// The work of one launch of a graph.
pub(super) struct Replay {
    /// Ordered by start.
    pub(super) work: Vec<Row>,
    names: Vec<NameId>,
    /// The ids of the nodes; 0 where they are not stated. Empty if none is.
    ids: Vec<i64>,
    /// The stream of each work, numbered by their first work.
    streams: Vec<u32>,
    /// The range around the launch, and what its name states.
    step: Option<Step>,
}

/// The launches of graphs, in order of time.
pub(super) fn replays(trace: &Trace, names: &mut Names) -> Vec<Replay> {
    let table = &trace.table;
    let mut work: Vec<(Row, Row)> = trace.links.graph_work(table).collect();
    sort_by_key(&mut work, |&(row, _)| (table.ts(row), i64::from(row)));
    sort_by_key(&mut work, |&(_, call)| (table.ts(call), i64::from(call)));
    let launches = work.chunk_by(|a, b| a.1 == b.1).map(|of_call| of_call[0].1);
    let steps = stated(trace, launches);
    let mut known: Vec<Option<NameId>> = vec![None; table.names.len()];
    let mut name = |work: Row| match table.category(work) {
        Category::Kernel => *known[table.name_id(work).0 as usize]
            .get_or_insert_with(|| names.intern(&name_of_work(table, work))),
        _ => names.intern(&name_of_work(table, work)),
    };
    let id = table.names.find(NODE_ID);
    let replay = |(of_call, step): (&[(Row, Row)], Option<Step>)| Replay {
        streams: streams(table, of_call),
        work: of_call.iter().map(|pair| pair.0).collect(),
        names: of_call.iter().map(|pair| name(pair.0)).collect(),
        ids: id.map_or(Vec::new(), |key| of_call.iter().map(|pair| node_id(table, pair.0, key)).collect()),
        step,
    };
    work.chunk_by(|a, b| a.1 == b.1).zip(steps).map(replay).collect()
}

/// The stream of each work, numbered by their first work.
fn streams(table: &Table, work: &[(Row, Row)]) -> Vec<u32> {
    let mut known = Vec::new();
    let mut number = |&(row, _): &(Row, Row)| {
        let track = table.track_id(row);
        let at = known.iter().position(|&one| one == track).unwrap_or_else(|| {
            known.push(track);
            known.len() - 1
        });
        at as u32
    };
    work.iter().map(&mut number).collect()
}

/// The id of the node that work is of; 0 if it is not stated.
fn node_id(table: &Table, work: Row, key: NameId) -> i64 {
    table.field_with(work, FieldPlace::Args, key).and_then(|value| value.as_i64()).unwrap_or(0)
}

/// The iteration around each call, and what its name states.
fn stated(trace: &Trace, calls: impl Iterator<Item = Row>) -> Vec<Option<Step>> {
    let iterations = Iterations::new(trace);
    let around = |call: Row| iterations.around(&trace.table, call).map(|one| (one.row, one.name.clone()));
    calls.map(around).collect()
}

/// What the iteration around each capture states.
pub(super) fn capture_sizes(trace: &Trace, captures: &Captures) -> Vec<Option<StepName>> {
    let first = captures.graphs.iter().map(|graph| captures.nodes[graph.start].call);
    stated(trace, first).into_iter().map(|one| Some(one?.1)).collect()
}

/// The size of a batch that a graph is for, if it is known: requests or tokens. `None` if a launch does not fit into it.
fn padding(replay: Option<&StepName>, capture: Option<&StepName>) -> Option<i64> {
    let (Some(replay), Some(capture)) = (replay, capture) else { return Some(0) };
    let missing = |of: fn(&StepName) -> Option<i64>| Some(of(capture)? - of(replay)?);
    let by_tokens = missing(|step| step.tokens);
    match by_tokens.or_else(|| missing(|step| step.batch)) {
        None => Some(0),
        Some(padding) => Some(padding).filter(|&padding| padding >= 0),
    }
}

/// The alignment of a launch.
pub(super) struct Aligned {
    /// The share of nodes that agree with the best capture.
    pub(super) confidence: f64,
    /// By how much the capture is for a larger batch.
    pub(super) padding: i64,
    /// Whether a capture agrees that is for a smaller batch.
    pub(super) is_too_small: bool,
    /// For work, by its index, the node that it belongs to; empty if too few agree.
    pub(super) pairs: Vec<(usize, u32)>,
}

/// The pairs of two lists of names.
struct Common {
    confidence: f64,
    pairs: Vec<(usize, usize)>,
}

/// Aligns launches with the captures of one trace.
pub(super) struct Aligner<'a> {
    captures: &'a Captures,
    sizes: &'a [Option<StepName>],
    /// The names of each graph, and the same number for graphs of the same names.
    graphs: Vec<Vec<NameId>>,
    classes: Vec<u32>,
    lists: Lists,
    /// The common names of a list of a launch and of a graph.
    known: Index,
    common: Vec<Common>,
    /// The nodes by their ids.
    by_id: Index,
    /// The iteration of the launch before, and the graph after that of it.
    iteration: Option<Row>,
    next: usize,
}

impl<'a> Aligner<'a> {
    pub(super) fn new(captures: &'a Captures, sizes: &'a [Option<StepName>]) -> Aligner<'a> {
        let names = |graph: &core::ops::Range<usize>| -> Vec<NameId> {
            captures.nodes[graph.clone()].iter().map(|node| node.name).collect()
        };
        let graphs: Vec<Vec<NameId>> = captures.graphs.iter().map(names).collect();
        let mut lists = Lists::default();
        let classes = graphs.iter().map(|graph| lists.class(graph, &[])).collect();
        let mut by_id = Index::default();
        for (at, node) in captures.nodes.iter().enumerate() {
            if let Some(id) = node.id.filter(|&id| id != 0) {
                by_id.set((id, 0), at as u32);
            }
        }
        Aligner {
            captures,
            sizes,
            graphs,
            classes,
            lists,
            known: Index::default(),
            common: Vec::new(),
            by_id,
            iteration: None,
            next: 0,
        }
    }

    /// Aligns the next launch.
    pub(super) fn align(&mut self, replay: &Replay) -> Aligned {
        if let Some(aligned) = self.by_ids(replay) {
            return aligned;
        }
        let iteration = replay.step.as_ref().map(|step| step.0);
        if iteration.is_some() && iteration != self.iteration {
            (self.iteration, self.next) = (iteration, 0);
        }
        let class = self.lists.class(&replay.names, &replay.streams);
        let mut best: Option<(f64, i64, usize)> = None;
        let mut is_too_small = false;
        let (count, next) = (self.graphs.len(), self.next);
        for at in (0..count).map(|at| (next + at) % count) {
            let confidence = self.common(class, replay, at).confidence;
            let stated = replay.step.as_ref().map(|step| &step.1);
            let Some(padding) = padding(stated, self.sizes[at].as_ref()) else {
                is_too_small |= confidence >= ENOUGH;
                continue;
            };
            let is_better = best
                .is_none_or(|(most, least, _)| confidence > most || (confidence >= most && padding < least));
            if is_better {
                best = Some((confidence, padding, at));
            }
        }
        let (confidence, padding, graph) = best.unwrap_or((0.0, 0, 0));
        let aligned = Aligned { confidence, padding, is_too_small, pairs: Vec::new() };
        if confidence < ENOUGH {
            return aligned;
        }
        self.next = graph + 1;
        let first = self.captures.graphs[graph].start;
        let node = |&(work, node): &(usize, usize)| (work, (first + node) as u32);
        let pairs = self.common(class, replay, graph).pairs.iter().map(node).collect();
        Aligned { pairs, ..aligned }
    }

    /// Pairs work by the ids of nodes, if both sides state them and the names agree.
    fn by_ids(&self, replay: &Replay) -> Option<Aligned> {
        let mut pairs = Vec::new();
        for (at, (&id, &name)) in replay.ids.iter().zip(&replay.names).enumerate() {
            let node = self.by_id.get((id, 0)).filter(|_| id != 0);
            let is_same = |node: &u32| {
                let known = self.captures.nodes[*node as usize].name;
                known == name || known == NameId::EMPTY
            };
            pairs.extend(node.filter(is_same).map(|node| (at, node)));
        }
        let confidence = pairs.len() as f64 / replay.work.len().max(1) as f64;
        (confidence >= ENOUGH).then_some(Aligned { confidence, padding: 0, is_too_small: false, pairs })
    }

    fn common(&mut self, class: u32, replay: &Replay, graph: usize) -> &Common {
        let next = self.common.len() as u32;
        let key = (i64::from(class), i64::from(self.classes[graph]));
        let at = self.known.get_or_insert(key, next);
        if at == next {
            self.common.push(common(&replay.names, &replay.streams, &self.graphs[graph]));
        }
        &self.common[at as usize]
    }
}

/// The same number for lists of the same names on the same streams.
#[derive(Default)]
struct Lists {
    prefixes: Index,
}

impl Lists {
    fn class(&mut self, names: &[NameId], streams: &[u32]) -> u32 {
        let prefixes = &mut self.prefixes;
        let streams = streams.iter().copied().chain(core::iter::repeat(0));
        let longer = |prefix: u32, (name, stream): (&NameId, u32)| {
            let next = prefixes.len() as u32 + 1;
            prefixes.get_or_insert((i64::from(prefix), i64::from(name.0) << 32 | i64::from(stream)), next)
        };
        names.iter().zip(streams).fold(0, longer)
    }
}

/// Pairs equal names of two lists. `streams` has the stream of each name of the first list.
fn common(a: &[NameId], streams: &[u32], b: &[NameId]) -> Common {
    let most = a.len().max(b.len());
    let share = |count: usize| count as f64 / most.max(1) as f64;
    let of = |pairs: Vec<(usize, usize)>| Common { confidence: share(pairs.len()), pairs };
    if a == b {
        let known = |at: &usize| a[*at] != NameId::EMPTY;
        return of((0..a.len()).filter(known).map(|at| (at, at)).collect());
    }
    let sorted = |names: &[NameId]| {
        let mut order: Vec<usize> = (0..names.len()).collect();
        sort_by_key(&mut order, |&at| (i64::from(names[at].0), at as i64));
        order
    };
    let (in_a, in_b) = (sorted(a), sorted(b));
    if a.len() == b.len() && in_a.iter().zip(&in_b).all(|(&x, &y)| a[x] == b[y] && a[x] != NameId::EMPTY) {
        let mut pairs: Vec<(usize, usize)> = in_a.into_iter().zip(in_b).collect();
        sort_by_key(&mut pairs, |pair| (pair.0 as i64, 0));
        let by_order = Common { confidence: share(in_order(&pairs, streams)), pairs };
        let common = of(subsequence(a, b));
        return if by_order.confidence >= common.confidence { by_order } else { common };
    }
    of(subsequence(a, b))
}

/// How many pairs, which are in the order of the first list, are in that of the second one on their stream.
fn in_order(pairs: &[(usize, usize)], streams: &[u32]) -> usize {
    let count = streams.iter().max().map_or(1, |most| *most as usize + 1);
    // Of each stream, the least last positions of increasing sequences by their length.
    let mut lasts: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(at, position) in pairs {
        let last = &mut lasts[streams.get(at).map_or(0, |stream| *stream as usize)];
        let length = last.partition_point(|&known| known < position);
        match last.get_mut(length) {
            Some(known) => *known = position,
            None => last.push(position),
        }
    }
    lasts.iter().map(Vec::len).sum()
}

/// The longest common subsequence; of lists that are too long, only their common starts and ends.
fn subsequence(a: &[NameId], b: &[NameId]) -> Vec<(usize, usize)> {
    let same = |(x, y): &(&NameId, &NameId)| x == y && **x != NameId::EMPTY;
    let start = a.iter().zip(b).take_while(same).count();
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let end = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(same).count();
    let (middle_a, middle_b) = (&rest_a[..rest_a.len() - end], &rest_b[..rest_b.len() - end]);
    let mut pairs: Vec<(usize, usize)> = (0..start).map(|at| (at, at)).collect();
    pairs.extend(longest(middle_a, middle_b).into_iter().map(|(x, y)| (start + x, start + y)));
    pairs.extend((0..end).map(|at| (a.len() - end + at, b.len() - end + at)));
    pairs
}

/// The longest common subsequence of lists whose table of lengths is not too large; else nothing.
fn longest(a: &[NameId], b: &[NameId]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    if (a.len() + 1).saturating_mul(width) > LARGEST / 4 {
        return Vec::new();
    }
    let mut lengths = vec![0u32; (a.len() + 1) * width];
    for x in (0..a.len()).rev() {
        for y in (0..b.len()).rev() {
            lengths[x * width + y] = if a[x] == b[y] && a[x] != NameId::EMPTY {
                lengths[(x + 1) * width + y + 1] + 1
            } else {
                lengths[(x + 1) * width + y].max(lengths[x * width + y + 1])
            };
        }
    }
    let (mut pairs, mut x, mut y) = (Vec::new(), 0, 0);
    while x < a.len() && y < b.len() {
        let length = lengths[x * width + y];
        if length == lengths[(x + 1) * width + y] {
            x += 1;
        } else if length == lengths[x * width + y + 1] {
            y += 1;
        } else {
            pairs.push((x, y));
            (x, y) = (x + 1, y + 1);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<NameId> {
        text.bytes().map(|byte| NameId(u32::from(byte))).collect()
    }

    fn aligned(a: &str, b: &str) -> (f64, usize) {
        let common = common(&names(a), &[0, 1, 0, 1, 0, 1], &names(b));
        assert!(common.pairs.iter().all(|&(x, y)| a.as_bytes()[x] == b.as_bytes()[y]), "{a} {b}");
        (common.confidence, common.pairs.len())
    }

    #[test]
    fn equal_names_are_paired_in_order() {
        assert_eq!(aligned("abcabc", "abcabc"), (1.0, 6));
        assert_eq!(aligned("axbycz", "abcxyz"), (1.0, 6), "two branches");
        assert_eq!(aligned("zcybxa", "abcxyz"), (2.0 / 6.0, 6), "the other way round");
        assert_eq!(aligned("abcde", "abde"), (0.8, 4));
        assert_eq!(aligned("xabcx", "yabcy"), (0.6, 3));
        assert_eq!(aligned("abc", "xyz"), (0.0, 0));
        assert_eq!(aligned("", "abc"), (0.0, 0));
    }

    #[test]
    fn unknown_names_agree_with_nothing() {
        let unknown = [NameId::EMPTY; 3];
        assert_eq!(common(&unknown, &[], &unknown).pairs, []);
        assert_eq!(common(&unknown, &[], &names("abc")).pairs, []);
    }

    #[test]
    fn lists_of_the_same_names_have_one_number() {
        let mut lists = Lists::default();
        let numbers = ["abc", "ab", "abc", "", "bc", "ab"].map(|text| lists.class(&names(text), &[]));
        assert_eq!((numbers[0], numbers[1]), (numbers[2], numbers[5]));
        assert!(numbers[0] != numbers[1] && numbers[3] != numbers[4] && numbers[4] != numbers[0]);
    }
}
