//! What changes would save, as rows.

use super::bounds::Bounds;
use super::changes::{Changes, Faster, Free};
use super::graph::NodeKind;
use super::what_if::Replay;
use crate::analysis::device::classes::Class;
use crate::analysis::device::idle::Cause;
use crate::analysis::query::options::{Opt, ROW_LIMIT, options};
use crate::analysis::query::question::Question;
use crate::analysis::query::value::ValueKind;
use crate::analysis::query::{Input, Query};
use crate::base::error::Error;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, Rows, columns};
use crate::base::words::option_spelling;
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

options! {
    /// Options of `what-if`.
    pub(crate) struct WhatIfOptions {
        /// Work of devices that is faster: entries of a class or a part of a name, `=`, and a factor, separated by commas.
        pub faster: Option<String> = Opt::text(
            "faster",
            "KERNEL=N,...",
            "Kernels are N times faster: a part of their names, or a class or category of `kernels`",
        ),
        /// Causes of idle time that take no time on the host.
        pub free: Vec<String> = Opt::new(
            "free",
            "CAUSE,...",
            ValueKind::Texts,
            "These causes of `idle` and delays of `critical-path` take no time, such as data-loading,sync",
        ),
        /// Work that computes or copies does not wait for communication.
        pub overlap_communication: bool = Opt::flag(
            "overlap-communication",
            "Work that computes or copies does not wait for communication",
        ),
        /// The host starts all work of a step at once.
        pub cuda_graph: bool = Opt::flag(
            "cuda-graph",
            "The host starts all work at once: launches, operators and other code take no time",
        ),
        /// Kernel sequences that are one kernel each, by their numbers in `sequences`.
        pub fuse: Vec<i64> = Opt::new(
            "fuse",
            "LIST",
            ValueKind::Numbers,
            "Each of these sequences is one kernel, by their numbers in `sequences` with its defaults",
        ),
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `what-if`.
pub(crate) const WHAT_IF: Query = Query::new(
    "what-if",
    "What changes would save, by replaying the trace with them",
    COLUMNS,
    |trace, request| Ok(what_if(trace, &request.typed())?.into()),
)
.examples(&["run.json", "run.json --free data-loading,sync --faster gemm=2"])
.options::<WhatIfOptions>()
.inputs(&[Input::KernelRules])
.questions(&[Question::Idle])
.hint("this trace has no calls, operators or device work, or nothing would save time");

/// Returns what changes would save.
///
/// # Errors
/// Returns [`Error::BadOption`] if a change is malformed, and [`Error::Unfit`] if the replay differs too much from what
/// was recorded.
pub(crate) fn what_if(trace: &Trace, options: &WhatIfOptions) -> Result<Rows, Error> {
    Ok(what_if_rows(trace, &options.changes()?)?.first(options.row_limit))
}

impl WhatIfOptions {
    /// Returns the changes that the options describe.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] with the entry that is malformed, or names no cause.
    fn changes(&self) -> Result<Changes, Error> {
        let wrong = |entry: String| {
            Error::BadOption(format!(
                "faster: expected NAME=FACTOR, with a factor from 0.001 to 1000000, not {entry:?}"
            ))
        };
        let free = |text: &String| {
            Changes::parse_free(text)
                .ok_or_else(|| Error::BadOption(format!("free: there is no cause or delay {text:?}")))
        };
        let freed: Vec<Free> = self.free.iter().map(free).collect::<Result<_, _>>()?;
        Ok(Changes {
            faster: self.faster.as_deref().map_or(Ok(Vec::new()), Changes::parse_faster).map_err(wrong)?,
            overlap_communication: self.overlap_communication,
            cuda_graph: self.cuda_graph,
            fuse: self.fuse.iter().map(|&number| usize::try_from(number).unwrap_or(0)).collect(),
            ..Changes::free(&freed)
        })
    }
}

/// What a change saves, in ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saving {
    ns: i64,
    low_ns: i64,
    high_ns: i64,
}

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(replay: &Replay<'_>, change: &Changes, saving: &Saving) {
        let replayed_ns = replay.replayed_ns();
        let saving_ns = Some(saving.ns).filter(|_| replay.is_known((saving.low_ns, saving.high_ns)));
        let wall_ns = saving_ns.map(|saving| replayed_ns - saving);
        let speedup = |wall| if wall > 0 { replayed_ns as f64 / wall as f64 } else { f64::INFINITY };
    } [
        Column::text("change", "Change", "What is different, as options of this command.") => change.text(),
        Column::ns("saving_ns", "Saving", "What it saves of the wall time; negative if it costs time; null if the bounds are too far apart to tell.")
            .nullable() => saving_ns,
        Column::ns("saving_low_ns", "At least", "The least that it saves under other assumptions about delays and waits; negative if it can cost time.") =>
            saving.low_ns,
        Column::ns("saving_high_ns", "At most", "The most that it saves under other assumptions about delays and waits.") =>
            saving.high_ns,
        Column::share("saving_share", "Share", "The saving as a share of the wall time.").nullable() =>
            saving_ns.map(|saving| saving as f64 / replayed_ns as f64),
        Column::float("speedup", "Speedup", "The wall time of the unchanged replay divided by that with the change.")
            .nullable() => wall_ns.map(speedup),
        Column::ns("wall_ns", "Wall", "The wall time with the change.").nullable() => wall_ns,
        Column::ns("replayed_ns", "Unchanged", "The wall time of the replay without changes.") => replayed_ns,
        Column::ns("recorded_ns", "Recorded", "The wall time as recorded.") => replay.recorded_ns(),
        Column::share("error", "Error", "How far the replay without changes is from the recorded time.") =>
            replay.error(),
    ]
}

/// Returns what each change saves, then all of them together; without changes, what each of the usual ones would save,
/// the most first.
///
/// # Errors
/// Returns [`Error::Unfit`] if the replay differs too much from what was recorded, and [`Error::BadOption`] if the trace
/// has nothing that a change is about.
pub(crate) fn what_if_rows(trace: &Trace, changes: &Changes) -> Result<Rows, Error> {
    let replay = Replay::new(trace);
    let mut rows = Rows::new(COLUMNS);
    if replay.recorded_ns() == 0 {
        return Ok(rows);
    }
    replay.check()?;
    replay.check_changes(changes)?;
    let mut found: Vec<(i64, Changes)> = Vec::new();
    if changes.is_empty() {
        found.extend(usual(&replay).into_iter().map(|change| (replay.saving_ns(&change), change)));
        found.retain(|saving| saving.0 > 0);
        sort_by_key(&mut found, |saving| (descending(saving.0), 0));
    } else {
        let each = changes.each();
        let all = (each.len() > 1).then(|| changes.clone());
        found.extend(each.into_iter().chain(all).map(|change| (replay.saving_ns(&change), change)));
    }
    let bounds = Bounds::new(&replay);
    for (saving_ns, change) in &found {
        let (low_ns, high_ns) = bounds.saving_ns(change);
        rows.push(row(&replay, change, &Saving { ns: *saving_ns, low_ns, high_ns }));
    }
    Ok(rows)
}

/// The changes that are tried if none is given.
fn usual(replay: &Replay<'_>) -> Vec<Changes> {
    let mut all: Vec<Changes> = Cause::ALL.into_iter().map(Changes::without).collect();
    let graph = replay.graph();
    let has = |class: Class| graph.ids().any(|id| graph.node(id).kind == NodeKind::Device(class));
    if Class::ALL.into_iter().any(has) {
        all.push(Changes { overlap_communication: true, ..Changes::default() });
        all.push(Changes { cuda_graph: true, ..Changes::default() });
    }
    for class in Class::ALL.into_iter().filter(|&class| has(class)) {
        let faster = Faster { work: class.as_str().to_owned(), factor: 2.0 };
        all.push(Changes { faster: [faster].into(), ..Changes::default() });
    }
    all
}

impl Changes {
    /// Returns every change on its own.
    fn each(&self) -> Vec<Changes> {
        let faster = self
            .faster
            .iter()
            .map(|faster| Changes { faster: [faster.clone()].into(), ..Changes::default() });
        let causes = self.free.iter().copied().map(Free::Cause);
        let delays = self.free_delays.iter().copied().map(Free::Delay);
        let free = causes.chain(delays).map(|freed| Changes::free(&[freed]));
        let overlap = Changes { overlap_communication: true, ..Changes::default() };
        let graph = Changes { cuda_graph: true, ..Changes::default() };
        let flags = [(self.overlap_communication, overlap), (self.cuda_graph, graph)];
        let flags = flags.into_iter().filter(|flag| flag.0).map(|flag| flag.1);
        let fused = self.fuse.iter().map(|&number| Changes { fuse: [number].into(), ..Changes::default() });
        faster.chain(free).chain(flags).chain(fused).collect()
    }

    /// Returns the changes as options.
    pub(crate) fn text(&self) -> String {
        let faster = self.faster.iter().map(|faster| format!("{}={}", faster.work, faster.factor));
        let delays = self.free_delays.iter().map(|part| part.as_str());
        let free = self.free.iter().map(|cause| cause.as_str()).chain(delays).map(option_spelling);
        let mut texts = Vec::new();
        let fused = self.fuse.iter().map(usize::to_string);
        let lists: [(&str, Vec<String>); 3] =
            [("--faster", faster.collect()), ("--free", free.collect()), ("--fuse", fused.collect())];
        for (option, values) in lists {
            if !values.is_empty() {
                texts.push(format!("{option} {}", values.join(",")));
            }
        }
        let flags =
            [(self.overlap_communication, "--overlap-communication"), (self.cuda_graph, "--cuda-graph")];
        texts.extend(flags.into_iter().filter(|flag| flag.0).map(|flag| flag.1.to_owned()));
        texts.join(" ")
    }
}
