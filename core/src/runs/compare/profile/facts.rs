//! Facts about a trace that decide whether two traces can be compared.

use super::Periods;
use crate::analysis::context::Analysis;
use crate::analysis::intervals::{Intervals, lengths_in};
use crate::analysis::overview::info::producer;
use crate::base::diagnostics::{Code, Severity};
use crate::base::order::sort_by;
use crate::base::units::{counted, time_ns};
use crate::trace::Trace;
use crate::trace::read::snapshot;
use crate::trace::table::category::Category;
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Source;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What is known about a trace, in words for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Facts {
    pub(crate) producer: String,
    pub(crate) devices: Vec<String>,
    /// The number of devices with activities.
    pub(crate) used_devices: usize,
    pub(crate) has_python: bool,
    pub(crate) has_shapes: bool,
    pub(crate) rank: Option<i64>,
    pub(crate) world_size: Option<i64>,
    pub(crate) schema: Option<String>,
    /// Whether a part of the trace could not be read.
    pub(crate) is_partial: bool,
    /// Whether only a summary of the trace is known.
    pub(crate) is_summary: bool,
    /// What the trace has that is not compared.
    pub(crate) apart: Vec<String>,
}

impl Facts {
    pub(super) fn new(analysis: &Analysis<'_>, periods: &Periods) -> Facts {
        let (trace, table) = (analysis.trace, &analysis.trace.table);
        let mut names: Vec<String> =
            table.metadata.device_names().into_iter().map(|(_, name)| name).collect();
        sort_by(&mut names, Ord::cmp);
        names.dedup();
        let has_key = |key| table.layouts.all().iter().any(|layout| layout.find(key).is_some());
        Facts {
            producer: producer(table).to_owned(),
            devices: names,
            used_devices: analysis.devices().len(),
            has_python: table.layouts.has(Category::PythonFunction),
            has_shapes: has_key(Key::InputDims),
            rank: table.metadata.rank(),
            world_size: table.metadata.world_size(),
            schema: table.metadata.value("schemaVersion").map(|version| version.to_string()),
            is_partial: trace.diagnostics.worst() == Some(Severity::Lost),
            is_summary: false,
            apart: apart(analysis, periods),
        }
    }
}

/// The share of the time of the steps from which spans outside of them are worth a note.
const MUCH: i64 = 10;

/// What a trace has that is not compared.
fn apart(analysis: &Analysis<'_>, periods: &Periods) -> Vec<String> {
    let (trace, table) = (analysis.trace, &analysis.trace.table);
    let mut apart = Vec::new();
    let add = |apart: &mut Vec<String>, count: usize, what: &str| {
        apart.extend((count > 0).then(|| counted(count, what)));
    };
    add(&mut apart, trace.diagnostics.count(Code::AsyncApart) as usize, "asynchronous span");
    add(&mut apart, trace.samples.list().len(), "call stack sample");
    let process = periods.rows.first().map(|&row| table.track(row).pid);
    let steps = analysis.step_finder().steps.iter();
    let steps = steps.filter(|step| Some(table.track(step.0).pid) != process).count();
    if steps > 0 {
        apart.push(format!("{} of other processes", counted(steps, "step")));
    }
    if table.metadata.source == Source::ExecutionTrace {
        add(&mut apart, table.len(), "execution trace node");
    }
    if table.metadata.text(snapshot::SOURCE).is_some() {
        apart.push("the memory of the snapshot".into());
    }
    apart.extend(
        outside(trace, periods).map(|ns| format!("{} with spans outside of the steps", time_ns(ns, None))),
    );
    apart
}

/// The time with spans outside of the steps, if it is much.
fn outside(trace: &Trace, periods: &Periods) -> Option<i64> {
    let table = &trace.table;
    periods.rows.first()?;
    let spans = trace.tree.rows().iter().filter(|&&row| table.category(row) != Category::Window);
    let open = Intervals::union_of(spans.map(|&row| (table.ts(row), table.end(row))).collect());
    let within: i64 = lengths_in(&[&open], &periods.times).iter().map(|lengths| lengths.all[0]).sum();
    let steps: i64 = periods.times.iter().map(|time| time.1 - time.0).sum();
    Some(open.length() - within).filter(|ns| *ns > steps / MUCH)
}
