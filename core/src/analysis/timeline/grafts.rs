//! What a graph launch replays, as spans inside of the launch: those of the capture.

use crate::base::index::Index;
use crate::base::names::{MoreNames, NameId};
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::capture::Paths;
use crate::trace::table::events::Row;
use alloc::vec;
use alloc::vec::Vec;

/// The captured spans inside of launches.
#[derive(Debug)]
pub(super) struct Grafts<'a> {
    names: MoreNames<'a>,
    /// The captured spans around each node, the outermost first: name, capture and row.
    paths: Vec<Vec<Span>>,
    /// The launch, the path and the duration of each work, sorted by launch.
    work: Vec<(Row, u32, i64)>,
}

/// A captured span: its name, and what identifies it among all captures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) name: NameId,
    pub(super) id: i64,
}

impl<'a> Grafts<'a> {
    /// No captured spans.
    pub(super) fn none(trace: &'a Trace) -> Grafts<'a> {
        Grafts { names: MoreNames::new(&trace.table.names), paths: Vec::new(), work: Vec::new() }
    }

    /// Returns the captured spans of a trace that `is_wanted` chooses.
    pub(super) fn new(trace: &'a Trace, is_wanted: impl Fn(&Trace, Row) -> bool) -> Grafts<'a> {
        let mut grafts = Grafts::none(trace);
        for (number, replayed) in trace.replayed().enumerate() {
            let paths = Paths::new(replayed.trace, replayed.captures);
            let mut known: Vec<Option<u32>> = vec![None; replayed.captures.nodes.len()];
            for (launch, node, work) in replayed.work {
                let Some(launch) = launch else { continue };
                let path = *known[node].get_or_insert_with(|| {
                    let rows = paths.of(node).into_iter().filter(|&row| is_wanted(replayed.trace, row));
                    let table = &replayed.trace.table;
                    let spans = rows.map(|row| grafts.span(table.name(row), (number, row))).collect();
                    grafts.paths.push(spans);
                    grafts.paths.len() as u32 - 1
                });
                grafts.work.push((launch, path, trace.table.dur(work).max(0)));
            }
        }
        sort_by_key(&mut grafts.work, |work| (i64::from(work.0), 0));
        grafts
    }

    fn span(&mut self, name: &str, (capture, row): (usize, Row)) -> Span {
        Span { name: self.names.intern(name), id: (capture as i64) << 32 | i64::from(row) }
    }

    /// What a launch replays: the spans around each work, the outermost first, and its duration in ns.
    pub(super) fn of(&self, launch: Row) -> impl Iterator<Item = (&[Span], i64)> {
        let first = self.work.partition_point(|work| work.0 < launch);
        let of_launch = self.work[first..].iter().take_while(move |work| work.0 == launch);
        of_launch.map(|&(_, path, ns)| (&self.paths[path as usize][..], ns))
    }

    /// The name of a span of the trace or of a capture.
    pub(super) fn name(&self, name: NameId) -> &str {
        self.names.get(name)
    }
}

/// Counts spans that several works have in common once for each launch.
#[derive(Default)]
pub(super) struct Counted(Index);

impl Counted {
    pub(super) fn is_new(&mut self, launch: Row, span: Span) -> bool {
        self.0.insert((i64::from(launch), span.id))
    }
}
