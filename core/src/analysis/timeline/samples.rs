//! Samples of call stacks: the functions in which threads spent their CPU time, also between spans.
//!
//! A sample of Kinetoscope's recorder is an instant event of the category `CATEGORY` with its `Call stack`: functions, the
//! innermost first, each followed by `;`. The samples of Chrome's format are read by the module `samples`.

use super::call_tree::push_stack;
use super::lane_names::LaneNames;
use crate::analysis::intervals::Interval;
use crate::analysis::query::Query;
use crate::analysis::query::options::{Opt, Options, ROW_LIMIT, TIME, TypedOptions};
use crate::base::index::{Index, Keyed};
use crate::base::names::{NameId, Names};
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, Rows, columns};
use crate::base::time;
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::samples::{CATEGORY, NONE};
use crate::trace::table::events::Row;
use crate::trace::table::layout::FieldPlace;
use crate::trace::table::tracks::{self, TrackId};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

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

/// Options of `samples`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplesOptions {
    /// What the rows are about.
    pub by: SamplesBy,
    /// Which samples are counted.
    pub filter: SampleFilter,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

const BY: Opt =
    Opt::word::<SamplesBy>("by", "WHAT", "Rows of each `function`, a `tree` of them, or each `thread`");
const SPAN: Opt = Opt::text("span", "NAME", "Only samples inside of spans with this name");
const BETWEEN: Opt = Opt::flag("between", "Only samples outside of all spans");
const THREAD: Opt = Opt::text("thread", "ID", "Only samples of this thread");

impl TypedOptions for SamplesOptions {
    const DECLARED: &'static [Opt] = &[BY, SPAN, BETWEEN, THREAD, TIME, ROW_LIMIT];

    fn from_options(options: &Options, _: bool) -> Self {
        SamplesOptions {
            by: options.word(&BY).unwrap_or_default(),
            filter: SampleFilter {
                span: options.text(&SPAN),
                between: options.flag(&BETWEEN),
                thread: options.text(&THREAD),
                time: options.pair(&TIME),
            },
            row_limit: options.limit(&ROW_LIMIT, None),
        }
    }
}

/// The query `samples`.
pub const SAMPLES: Query = Query::new("samples", "Samples of call stacks: where the CPU time went, also in no span", COLUMNS, |trace, request| Ok(samples(trace, &request.typed()).into()))
    .examples(&["run.ktrace --row-limit 20", "run.ktrace --by tree --span request"])
    .options::<SamplesOptions>()
    .hint("no samples in this trace, or none that the options select; Kinetoscope's recorder takes them with `sample_stacks`");

/// Returns the functions or threads that were sampled, or the tree of functions.
pub fn samples(trace: &Trace, options: &SamplesOptions) -> Rows {
    sample_rows(trace, options.by, &options.filter).first(options.row_limit)
}

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS:
        fn row(name: &str, counts: [usize; 2], all: usize, depth: Option<usize>, thread: Option<&str>) {
        let [samples, self_samples] = counts;
        let share = |part: usize| part as f64 / all.max(1) as f64;
    } [
        Column::text("name", "Name", "The function, or the name of the thread.") => name,
        Column::int("samples", "Samples", "The number of samples in it and in what it called.") => samples,
        Column::share("share", "Share", "Their share of all samples that are counted.") => share(samples),
        Column::int("own", "Own", "The number of samples in the function itself; of a thread, those outside of spans.") =>
            self_samples,
        Column::share("own_share", "Own share", "Their share of all samples that are counted.") => share(self_samples),
        Column::int("depth", "", "The number of callers; null except by `tree`.").nullable() => depth,
        Column::text("thread", "", "The id of the thread; null except by `thread`.").nullable() => thread,
    ]
}

/// A function with its callers.
struct SampleNode {
    name: NameId,
    parent: Option<u32>,
    self_samples: usize,
    samples: usize,
}

/// The samples that are counted, merged by their callers. Parents are before their children.
#[derive(Default)]
struct Merged {
    names: Names,
    nodes: Vec<SampleNode>,
    /// The nodes by parent plus 1 and name.
    known: Index,
    /// The node of each distinct stack.
    stacks: Index,
    count: usize,
}

/// A sample that is counted.
#[derive(Clone, Copy)]
struct Counted {
    ts: i64,
    track: TrackId,
    stack: Stack,
}

/// Where the stack of a sample is.
#[derive(Clone, Copy)]
enum Stack {
    /// The arguments of an event.
    Event(Row),
    /// A frame of the samples.
    Frame(u32),
}

/// Whether a trace has samples.
pub(crate) fn has_samples(trace: &Trace) -> bool {
    let category = trace.table.names.find(CATEGORY);
    let is_sampled = || trace.table.layouts.all().iter().any(|layout| layout.cat == category);
    !trace.samples.list().is_empty() || (category.is_some() && is_sampled())
}

/// Returns the samples as rows, those with the most samples first; a tree in its own order.
pub(crate) fn sample_rows(trace: &Trace, by: SamplesBy, filter: &SampleFilter) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    let samples = counted(trace, filter);
    if by == SamplesBy::Thread {
        threads(&mut rows, trace, &samples);
        return rows;
    }
    let merged = Merged::new(trace, &samples);
    if by == SamplesBy::Tree {
        merged.tree(&mut rows);
    } else {
        merged.functions(&mut rows);
    }
    rows
}

/// The samples that the filter selects: those of the recorder in the order of the file, then all others.
fn counted(trace: &Trace, filter: &SampleFilter) -> Vec<Counted> {
    let (table, tree) = (&trace.table, &trace.tree);
    let span = filter.span.as_ref().map(|name| table.names.find(name));
    let is_counted = |&Counted { ts, track, .. }: &Counted| {
        let names = || {
            let lanes = tree.lanes_of(track).iter();
            lanes.flat_map(|lane| tree.open_in(lane, table, ts)).map(|at| table.name_id(tree.row(at)))
        };
        let is_timed = ts != time::NONE;
        let after_start = ts.saturating_sub(trace.start_ns);
        filter.time.is_none_or(|(start, end)| is_timed && (start..end).contains(&after_start))
            && filter.thread.as_ref().is_none_or(|thread| thread_id(trace, track) == *thread)
            && span.is_none_or(|wanted| is_timed && names().any(|name| Some(name) == wanted))
            && !(filter.between && (!is_timed || names().next().is_some()))
    };
    let category = table.names.find(CATEGORY);
    let is_sample = |row: &Row| category.is_some() && table.layout(*row).cat == category;
    let event = |row| Counted { ts: table.ts(row), track: table.track_id(row), stack: Stack::Event(row) };
    let others = trace.samples.list().iter();
    let others = others.map(|sample| Counted {
        ts: sample.ts,
        track: sample.track,
        stack: Stack::Frame(sample.frame),
    });
    table.rows().filter(is_sample).map(event).chain(others).filter(is_counted).collect()
}

impl Merged {
    fn new(trace: &Trace, samples: &[Counted]) -> Merged {
        let mut merged = Merged { count: samples.len(), ..Merged::default() };
        let mut of_frames = alloc::vec![NONE; trace.samples.frames()];
        for sample in samples {
            let node = match sample.stack {
                Stack::Event(row) => {
                    let stack = trace.table.field_named(row, FieldPlace::Args, "Call stack");
                    let stack = stack.and_then(|stack| stack.as_str()).unwrap_or("");
                    merged.node(if stack.is_empty() { trace.table.name(row) } else { stack })
                }
                Stack::Frame(frame) => merged.node_of_frame(trace, &mut of_frames, frame),
            };
            merged.nodes[node as usize].self_samples += 1;
        }
        for at in (0..merged.nodes.len()).rev() {
            merged.nodes[at].samples += merged.nodes[at].self_samples;
            if let Some(parent) = merged.nodes[at].parent {
                merged.nodes[parent as usize].samples += merged.nodes[at].samples;
            }
        }
        merged
    }

    /// The node of a function below its caller.
    fn child(&mut self, parent: Option<u32>, name: &str) -> u32 {
        let name = self.names.intern(name);
        let next = self.nodes.len() as u32;
        let at = self
            .known
            .get_or_insert((parent.map_or(0, |at: u32| i64::from(at) + 1), i64::from(name.0)), next);
        if at == next {
            self.nodes.push(SampleNode { name, parent, self_samples: 0, samples: 0 });
        }
        at
    }

    /// The node of a frame. Each frame is visited once.
    fn node_of_frame(&mut self, trace: &Trace, known: &mut [u32], frame: u32) -> u32 {
        let (mut open, mut at) = (Vec::new(), frame);
        while at != NONE && known[at as usize] == NONE {
            open.push(at);
            at = trace.samples.frame(at).1;
        }
        let mut node = (at != NONE).then(|| known[at as usize]);
        while let Some(frame) = open.pop() {
            let child = self.child(node, trace.samples.frame(frame).0);
            known[frame as usize] = child;
            node = Some(child);
        }
        known[frame as usize]
    }

    /// The node of the innermost function of a stack.
    fn node(&mut self, stack: &str) -> u32 {
        let key = (i64::from(self.names.intern(stack).0), 0);
        if let Some(known) = self.stacks.get(key) {
            return known;
        }
        let mut parent = None;
        for function in stack.trim_end_matches(';').rsplit(';') {
            parent = Some(self.child(parent, function));
        }
        let node = parent.unwrap_or(0);
        self.stacks.set(key, node);
        node
    }

    fn push(&self, rows: &mut Rows, name: NameId, counts: [usize; 2], depth: Option<usize>) {
        rows.push(row(self.names.get(name), counts, self.count, depth, None));
    }

    /// Adds a row for each function. A sample counts once for a function that calls itself.
    fn functions(&self, rows: &mut Rows) {
        let mut is_recursive = alloc::vec![false; self.nodes.len()];
        // The number of open nodes of each name.
        let mut open = alloc::vec![0u32; self.names.len()];
        self.walk(|at, _, enters| {
            let open = &mut open[self.nodes[at as usize].name.0 as usize];
            if enters {
                is_recursive[at as usize] = *open > 0;
                *open += 1;
            } else {
                *open -= 1;
            }
        });
        let mut sums: Keyed<[usize; 2]> = Keyed::default();
        for (node, is_recursive) in self.nodes.iter().zip(is_recursive) {
            let sum = sums.entry((i64::from(node.name.0), 0));
            sum[0] += if is_recursive { 0 } else { node.samples };
            sum[1] += node.self_samples;
        }
        let mut sums = sums.into_entries();
        sort_by_key(&mut sums, |(_, [samples, self_samples])| {
            (descending(*self_samples as i64), descending(*samples as i64))
        });
        for ((name, _), sums) in sums {
            self.push(rows, NameId(name as u32), sums, None);
        }
    }

    /// Adds a row for each node: children below their parents, those with the most samples first.
    fn tree(&self, rows: &mut Rows) {
        self.walk(|at, depth, enters| {
            let node = &self.nodes[at as usize];
            if enters {
                self.push(rows, node.name, [node.samples, node.self_samples], Some(depth));
            }
        });
    }

    /// Visits each node with its depth before and after its children, those with the most samples first.
    fn walk(&self, mut visit: impl FnMut(u32, usize, bool)) {
        let mut children: Vec<Vec<u32>> = alloc::vec![Vec::new(); self.nodes.len() + 1];
        for (at, node) in self.nodes.iter().enumerate() {
            children[node.parent.map_or(0, |parent| parent as usize + 1)].push(at as u32);
        }
        let mut open: Vec<(u32, usize, bool)> = Vec::new();
        let add = |list: &mut Vec<u32>, depth: usize, open: &mut Vec<(u32, usize, bool)>| {
            sort_by_key(list, |&at| (self.nodes[at as usize].samples as i64, -i64::from(at)));
            open.extend(list.iter().map(|&at| (at, depth, true)));
        };
        add(&mut children[0], 0, &mut open);
        while let Some((at, depth, enters)) = open.pop() {
            visit(at, depth, enters);
            if enters {
                open.push((at, depth, false));
                add(&mut children[at as usize + 1], depth + 1, &mut open);
            }
        }
    }
}

/// Writes the samples as folded stacks, piece by piece: `outermost;…;innermost`, and the number of samples in the innermost function
/// itself.
pub(crate) struct Folded {
    merged: Merged,
    /// The number of the nodes before the next one.
    next: usize,
}

impl Folded {
    pub(crate) fn new(trace: &Trace) -> Folded {
        Folded { merged: Merged::new(trace, &counted(trace, &SampleFilter::default())), next: 0 }
    }

    /// Appends lines until the text has `most` bytes. Returns whether there are more.
    pub(crate) fn next(&mut self, out: &mut String, most: usize) -> bool {
        let Merged { nodes, names, .. } = &self.merged;
        while out.len() < most {
            let Some(node) = nodes.get(self.next) else { return false };
            self.next += 1;
            if node.self_samples > 0 {
                let above = |node: &&SampleNode| node.parent.map(|at| &nodes[at as usize]);
                push_stack(
                    out,
                    true,
                    core::iter::successors(Some(node), above).map(|node| names.get(node.name)),
                );
                let _ = writeln!(out, " {}", node.self_samples);
            }
        }
        true
    }
}

fn thread_id(trace: &Trace, track: TrackId) -> &str {
    tracks::plain(&trace.table.names, trace.table.tracks.get(track).tid)
}

fn threads(rows: &mut Rows, trace: &Trace, samples: &[Counted]) {
    let (table, tree) = (&trace.table, &trace.tree);
    let mut sums: Keyed<[usize; 2]> = Keyed::default();
    for &Counted { ts, track, .. } in samples {
        let sum = sums.entry((i64::from(track.0), 0));
        sum[0] += 1;
        sum[1] += usize::from(ts != time::NONE && tree.open_at(table, track, ts).is_none());
    }
    let names = LaneNames::new(trace);
    let mut sums = sums.into_entries();
    sort_by_key(&mut sums, |((track, _), [count, _])| (descending(*count as i64), *track));
    for ((track, _), counts) in sums {
        let track = TrackId(track as u32);
        let name = names.thread(table.tracks.get(track));
        rows.push(row(&name, counts, samples.len(), None, Some(thread_id(trace, track))));
    }
}
