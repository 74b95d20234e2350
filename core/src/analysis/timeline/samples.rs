//! Samples of call stacks: the functions in which threads spent their CPU time, also between spans.
//!
//! A sample is an instant event of the category [`CATEGORY`] with its `Call stack`: functions, the innermost first, each
//! followed by `;`.

use super::lane_names::LaneNames;
use crate::analysis::intervals::Interval;
use crate::index::{Index, Keyed};
use crate::names::{NameId, Names};
use crate::order::{descending, sort_by_key};
use crate::rows::{Cell, Column, Rows};
use crate::table::events::Row;
use crate::table::layout::Place;
use crate::table::tracks::{self, TrackId};
use crate::trace::Trace;
use crate::words::words;
use alloc::string::String;
use alloc::vec::Vec;

/// The category of samples.
pub const CATEGORY: &str = "cpu_sample";

words! {
    "SamplesBy"
    /// What the rows of `samples` are about.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SamplesBy {
        /// Functions.
        #[default]
        Function = "function",
        /// Functions with their callers, as a flame graph shows them.
        Tree = "tree",
        /// Threads.
        Thread = "thread",
    }
}

/// Which samples are counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleFilter {
    /// Only those inside of spans with this name, on the thread of the span.
    pub span: Option<String>,
    /// Only those that are in no span.
    pub between: bool,
    /// Only those of the thread with this id.
    pub thread: Option<String>,
    /// Only those in this time, in ns after the start of the recording.
    pub time: Option<Interval>,
}

/// The columns of the answer.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("name", "Name", "The function, or the name of the thread."),
    Column::int("samples", "Samples", "The number of samples in it and in what it called."),
    Column::share("share", "Share", "Their share of all samples that are counted."),
    Column::int(
        "own",
        "Own",
        "The number of samples in the function itself; of a thread, those outside of spans.",
    ),
    Column::share("own_share", "Own share", "Their share of all samples that are counted."),
    Column::int("depth", "", "The number of callers; null except by `tree`.").nullable(),
    Column::text("thread", "", "The id of the thread; null except by `thread`.").nullable(),
];

/// A function with its callers.
struct Node {
    name: NameId,
    parent: Option<u32>,
    own: usize,
    samples: usize,
}

/// The samples that are counted, merged by their callers. Parents are before their children.
#[derive(Default)]
struct Merged {
    names: Names,
    nodes: Vec<Node>,
    /// The nodes by parent plus 1 and name.
    known: Index,
    /// The node of each distinct stack.
    stacks: Index,
    count: usize,
}

/// Returns the samples as rows, those with the most samples first; a tree in its own order.
pub(crate) fn sample_rows(trace: &Trace, by: SamplesBy, filter: &SampleFilter) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    let samples = counted(trace, filter);
    if by == SamplesBy::Thread {
        threads(&mut rows, trace, &samples);
        return rows;
    }
    let merged = Merged::of(trace, &samples);
    if by == SamplesBy::Tree {
        merged.tree(&mut rows);
    } else {
        merged.functions(&mut rows);
    }
    rows
}

/// The samples that the filter selects, in the order of the file.
fn counted(trace: &Trace, filter: &SampleFilter) -> Vec<Row> {
    let (table, tree) = (&trace.table, &trace.tree);
    let Some(category) = table.names.find(CATEGORY) else { return Vec::new() };
    let span = filter.span.as_ref().map(|name| table.names.find(name));
    let is_counted = |row: Row| {
        let (ts, track) = (table.ts(row), table.track_id(row));
        let names = || {
            let lanes = tree.lanes_of(track).iter();
            lanes.flat_map(|lane| tree.open_in(lane, table, ts)).map(|at| table.name_id(tree.row(at)))
        };
        let after_start = ts.saturating_sub(trace.start_ns);
        filter.time.is_none_or(|(start, end)| (start..end).contains(&after_start))
            && filter.thread.as_ref().is_none_or(|thread| thread_id(trace, track) == *thread)
            && span.is_none_or(|wanted| names().any(|name| Some(name) == wanted))
            && !(filter.between && names().next().is_some())
    };
    let is_sample = |row: &Row| table.layout(*row).cat == Some(category);
    table.rows().filter(is_sample).filter(|&row| is_counted(row)).collect()
}

impl Merged {
    fn of(trace: &Trace, samples: &[Row]) -> Merged {
        let mut merged = Merged { count: samples.len(), ..Merged::default() };
        for &row in samples {
            let stack = trace.table.field_named(row, Place::Args, "Call stack");
            let stack = stack.and_then(|stack| stack.as_str()).unwrap_or("");
            let stack = if stack.is_empty() { trace.table.name(row) } else { stack };
            let node = merged.node(stack);
            merged.nodes[node as usize].own += 1;
        }
        for at in (0..merged.nodes.len()).rev() {
            merged.nodes[at].samples += merged.nodes[at].own;
            if let Some(parent) = merged.nodes[at].parent {
                merged.nodes[parent as usize].samples += merged.nodes[at].samples;
            }
        }
        merged
    }

    /// The node of the innermost function of a stack.
    fn node(&mut self, stack: &str) -> u32 {
        let key = (i64::from(self.names.intern(stack).0), 0);
        if let Some(known) = self.stacks.get(key) {
            return known;
        }
        let mut parent = None;
        for function in stack.trim_end_matches(';').rsplit(';') {
            let name = self.names.intern(function);
            let next = self.nodes.len() as u32;
            let at = self.known.of((parent.map_or(0, |at: u32| i64::from(at) + 1), i64::from(name.0)), next);
            if at == next {
                self.nodes.push(Node { name, parent, own: 0, samples: 0 });
            }
            parent = Some(at);
        }
        let node = parent.unwrap_or(0);
        self.stacks.set(key, node);
        node
    }

    fn push(&self, rows: &mut Rows, name: NameId, [samples, own]: [usize; 2], depth: Option<usize>) {
        let share = |part: usize| Cell::Share(part as f64 / self.count.max(1) as f64);
        rows.push(alloc::vec![
            self.names.get(name).into(),
            samples.into(),
            share(samples),
            own.into(),
            share(own),
            depth.into(),
            Cell::Null,
        ]);
    }

    /// Adds a row for each function. A sample counts once for a function that calls itself.
    fn functions(&self, rows: &mut Rows) {
        let mut sums: Keyed<[usize; 2]> = Keyed::default();
        for node in &self.nodes {
            let mut callers = core::iter::successors(node.parent, |&at| self.nodes[at as usize].parent);
            let is_recursive = callers.any(|at| self.nodes[at as usize].name == node.name);
            let sum = sums.of((i64::from(node.name.0), 0));
            sum[0] += if is_recursive { 0 } else { node.samples };
            sum[1] += node.own;
        }
        let mut sums = sums.into_entries();
        sort_by_key(&mut sums, |(_, [samples, own])| (descending(*own as i64), descending(*samples as i64)));
        for ((name, _), sums) in sums {
            self.push(rows, NameId(name as u32), sums, None);
        }
    }

    /// Adds a row for each node: children below their parents, those with the most samples first.
    fn tree(&self, rows: &mut Rows) {
        let mut children: Vec<Vec<u32>> = alloc::vec![Vec::new(); self.nodes.len() + 1];
        for (at, node) in self.nodes.iter().enumerate() {
            children[node.parent.map_or(0, |parent| parent as usize + 1)].push(at as u32);
        }
        let mut open: Vec<(u32, usize)> = Vec::new();
        let add = |list: &mut Vec<u32>, depth: usize, open: &mut Vec<(u32, usize)>| {
            sort_by_key(list, |&at| (self.nodes[at as usize].samples as i64, -i64::from(at)));
            open.extend(list.iter().map(|&at| (at, depth)));
        };
        add(&mut children[0], 0, &mut open);
        while let Some((at, depth)) = open.pop() {
            let node = &self.nodes[at as usize];
            self.push(rows, node.name, [node.samples, node.own], Some(depth));
            add(&mut children[at as usize + 1], depth + 1, &mut open);
        }
    }
}

fn thread_id(trace: &Trace, track: TrackId) -> &str {
    tracks::plain(&trace.table.names, trace.table.tracks.get(track).tid)
}

fn threads(rows: &mut Rows, trace: &Trace, samples: &[Row]) {
    let (table, tree) = (&trace.table, &trace.tree);
    let mut sums: Keyed<[usize; 2]> = Keyed::default();
    for &row in samples {
        let track = table.track_id(row);
        let sum = sums.of((i64::from(track.0), 0));
        sum[0] += 1;
        sum[1] += usize::from(tree.open_at(table, track, table.ts(row)).is_none());
    }
    let names = LaneNames::new(trace);
    let mut sums = sums.into_entries();
    sort_by_key(&mut sums, |((track, _), [count, _])| (descending(*count as i64), *track));
    for ((track, _), [count, own]) in sums {
        let track = TrackId(track as u32);
        let share = |part: usize| Cell::Share(part as f64 / samples.len().max(1) as f64);
        rows.push(alloc::vec![
            names.thread(table.tracks.get(track)).into(),
            count.into(),
            share(count),
            own.into(),
            share(own),
            Cell::Null,
            thread_id(trace, track).into(),
        ]);
    }
}
