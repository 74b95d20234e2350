//! The queries as functions from a trace and typed options to rows. Queries without options are called where they are
//! defined.

use super::answer_options::{
    BreakdownOptions, FitnessOptions, FlopsOptions, IdleOptions, KernelsOptions, LaunchesOptions,
    ListOptions, NamesOptions, OpsOptions, PatternsOptions, RowsOf, SamplesOptions, SequencesOptions,
    StacksOptions, TasksOptions, TreeOptions,
};
use super::entry::Compile;
use super::replay_options::{CriticalPathOptions, WhatIfOptions};
use crate::analysis::device::breakdown::breakdown_rows;
use crate::analysis::device::collectives::collectives as collective_rows;
use crate::analysis::device::idle_rows::idle_rows;
use crate::analysis::device::kernel_rows::kernel_rows;
use crate::analysis::device::launch_rows::launch_rows;
use crate::analysis::device::memory_rows::memory_rows;
use crate::analysis::device::roofline::Peak;
use crate::analysis::device::sequence_rows::sequence_rows;
use crate::analysis::device::steps::{step_rows, steps as steps_of};
use crate::analysis::device::work::work_rows;
use crate::analysis::overview::check as checks;
use crate::analysis::overview::fitness::{Fitness, fitness as verdicts, fitness_rows};
use crate::analysis::replay::path_rows::{path_rows, period_rows, window};
use crate::analysis::replay::what_if_rows::what_if_rows;
use crate::analysis::tasks::task_rows::task_rows;
use crate::analysis::timeline::call_tree::{Cut, tree_rows};
use crate::analysis::timeline::counters::{self as curves, counter_rows};
use crate::analysis::timeline::modules::module_rows;
use crate::analysis::timeline::names::name_rows;
use crate::analysis::timeline::samples::sample_rows;
use crate::analysis::timeline::tracks::track_rows;
use crate::analysis::torch::average_rows::average_rows;
use crate::analysis::torch::averages::{Average, each_event, key_averages, total_average};
use crate::analysis::torch::coverage::coverage_rows;
use crate::analysis::torch::evaluation::evaluation_rows;
use crate::analysis::torch::event_rows::event_rows;
use crate::analysis::torch::event_tree_rows::event_tree_rows;
use crate::analysis::torch::function_events::FunctionEvents;
use crate::analysis::torch::node_rows::node_rows;
use crate::analysis::torch::patterns::{self as known, pattern_rows, rules::NamePattern};
use crate::analysis::torch::stacks::stack_rows;
use crate::base::error::Error;
use crate::base::page::Page;
use crate::base::rows::Rows;
use crate::output::report::torch_table::{self, Recorded, select};
use crate::trace::Trace;
use alloc::format;
use alloc::vec::Vec;

fn averages(trace: &Trace, options: &OpsOptions) -> (Vec<Average>, Recorded) {
    let (events, table) = (FunctionEvents::new(trace), &trace.table);
    let rows = match options.rows {
        RowsOf::Averages => key_averages(&events, table, options.group_by),
        RowsOf::Events => each_event(&events, table),
        RowsOf::Total => alloc::vec![total_average(&events, table)],
    };
    (rows, Recorded::of(&events))
}

/// Returns the operators: PyTorch's key averages, its events, or their sum.
pub fn ops(trace: &Trace, options: &OpsOptions) -> Rows {
    let (groups, _) = averages(trace, options);
    let (sorted, shown) = select(&groups, &options.table);
    average_rows(shown.iter().map(|&at| &sorted[at]))
}

/// Returns the operators as PyTorch's table.
pub fn ops_table(trace: &Trace, options: &OpsOptions) -> Page {
    let (groups, recorded) = averages(trace, options);
    torch_table::page(&groups, recorded, &options.table)
}

/// Returns kernels, memcpys and memsets, or groups of them, ordered by time.
pub fn kernels(trace: &Trace, options: &KernelsOptions) -> Rows {
    kernel_rows(trace, options.by).first(options.row_limit)
}

/// Returns the sequences of kernels that repeat, the largest saving first.
///
/// # Errors
/// Returns [`Error::BadOption`] if the lengths or the count are out of range.
pub fn sequences(trace: &Trace, options: &SequencesOptions) -> Result<Rows, Error> {
    Ok(sequence_rows(trace, &options.search)?.first(options.row_limit))
}

/// Returns the idle time of devices by cause, the longest first.
pub fn idle(trace: &Trace, options: &IdleOptions) -> Rows {
    idle_rows(trace, options.by).first(options.row_limit)
}

/// Returns whether the trace can answer each kind of question, and why not.
///
/// # Errors
/// Returns [`Error::BadOption`] if a required question is none.
pub fn fitness(trace: &Trace, options: &FitnessOptions) -> Result<Rows, Error> {
    Ok(fitness_rows(&fitness_of(trace, options)?.0))
}

/// The same, with whether a question that counts cannot be answered.
pub(super) fn fitness_of(trace: &Trace, options: &FitnessOptions) -> Result<(Vec<Fitness>, bool), Error> {
    let required = options.questions()?;
    let answers = verdicts(trace, &steps_of(trace, &[]));
    let failed = answers.iter().any(|one| one.fails(&required));
    Ok((answers, failed))
}

/// Returns the time of devices or steps by class of work.
pub fn breakdown(trace: &Trace, options: &BreakdownOptions) -> Rows {
    breakdown_rows(trace, options.by)
}

/// Returns launches in groups, those with the largest sum of delays first.
pub fn launches(trace: &Trace, options: &LaunchesOptions) -> Rows {
    launch_rows(trace, options.by, options.row_limit)
}

/// Returns asynchronous tasks, or what they waited for, those with the longest time first.
pub fn tasks(trace: &Trace, options: &TasksOptions) -> Rows {
    task_rows(trace, options.by).first(options.row_limit)
}

/// Returns the functions or threads that were sampled, or the tree of functions.
pub fn samples(trace: &Trace, options: &SamplesOptions) -> Rows {
    sample_rows(trace, options.by, &options.filter).first(options.row_limit)
}

/// Returns the critical path by its parts, the longest first.
///
/// # Errors
/// Returns [`Error::BadOption`] if the trace has no such step, or if a range of time is given as well.
pub fn critical_path(trace: &Trace, options: &CriticalPathOptions) -> Result<Rows, Error> {
    let window = window(trace, options.step, options.time)?;
    let rows = if options.periods { period_rows } else { path_rows };
    Ok(rows(trace, window).first(options.row_limit))
}

/// Returns what changes would save.
///
/// # Errors
/// Returns [`Error::BadOption`] if a change is malformed, and [`Error::Unfit`] if the replay differs too much from what
/// was recorded.
pub fn what_if(trace: &Trace, options: &WhatIfOptions) -> Result<Rows, Error> {
    Ok(what_if_rows(trace, &options.changes()?)?.first(options.row_limit))
}

/// Returns the calls of collectives, in order of time.
pub fn collectives(trace: &Trace, options: &ListOptions) -> Rows {
    collective_rows(trace).first(options.row_limit)
}

/// Returns the floating point operations of each operator.
///
/// # Errors
/// Returns [`Error::BadOption`] if a line of the peak figures is malformed.
pub fn flops(trace: &Trace, options: &FlopsOptions) -> Result<Rows, Error> {
    let devices = trace.table.metadata.device_names();
    // Traces with different devices are rare: the peak figures of the first device apply to all.
    let name = devices.first().map_or("", |(_, name)| name);
    let peak = Peak::find(name, options.peaks.as_deref())?;
    Ok(work_rows(trace, peak).first(options.row_limit))
}

/// Returns what torch.compile captured, and the operators that it missed.
pub fn coverage(trace: &Trace, options: &ListOptions) -> Rows {
    coverage_rows(trace).0.first(options.row_limit)
}

/// Returns the matches of anti-patterns, or of names that fit a regular expression, which `compile` compiles.
///
/// # Errors
/// Returns [`Error::BadOption`] if the regular expression is malformed.
pub fn patterns(trace: &Trace, options: &PatternsOptions, compile: Compile) -> Result<Rows, Error> {
    let named = named_pattern(options, compile)?;
    let rows = match &named {
        Some(named) => pattern_rows(trace, &[named]),
        None => pattern_rows(trace, &known::ALL),
    };
    Ok(rows.first(options.row_limit))
}

/// Returns the matches in the format of PyTorch's `report_all_anti_patterns`.
///
/// # Errors
/// Returns [`Error::BadOption`] if the regular expression is malformed.
pub fn patterns_report(trace: &Trace, options: &PatternsOptions, compile: Compile) -> Result<Page, Error> {
    Ok(match &named_pattern(options, compile)? {
        Some(named) => known::report(trace, &[named]),
        None => known::report(trace, known::REPORTED),
    })
}

fn named_pattern(options: &PatternsOptions, compile: Compile) -> Result<Option<NamePattern>, Error> {
    let Some(expression) = &options.name else { return Ok(None) };
    let wrong = |what| Error::BadOption(format!("name: {what}"));
    Ok(Some(NamePattern::new(expression, compile(expression).map_err(wrong)?)))
}

/// Returns the calls during which the launch queue of the device ran empty.
pub fn evaluation(trace: &Trace, options: &ListOptions) -> Rows {
    evaluation_rows(trace).first(options.row_limit)
}

/// Returns the memory of each device.
pub fn memory(trace: &Trace, options: &ListOptions) -> Rows {
    memory_rows(trace).first(options.row_limit)
}

/// Returns the call tree of every lane, merged by name.
pub fn tree(trace: &Trace, options: &TreeOptions) -> Rows {
    let cut = Cut {
        depth: options.depth.unwrap_or(usize::MAX),
        bottom_up: options.bottom_up,
        min_share: options.min_share,
    };
    tree_rows(trace, cut).first(options.row_limit)
}

/// Returns the time of each `nn.Module`.
pub fn modules(trace: &Trace, options: &ListOptions) -> Rows {
    module_rows(trace).first(options.row_limit)
}

/// Returns the Python stacks, ordered by self time.
///
/// # Errors
/// Returns [`Error::BadOption`] if the trace has no lines of calls and they are wanted.
pub fn stacks(trace: &Trace, options: &StacksOptions) -> Result<Rows, Error> {
    let events = FunctionEvents::new(trace);
    let events = if options.call_sites { events.with_call_sites(trace)? } else { events };
    Ok(stack_rows(&events).first(options.row_limit))
}

/// Returns the nodes of an execution trace, in the order of the file.
pub fn nodes(trace: &Trace, options: &ListOptions) -> Rows {
    node_rows(trace).first(options.row_limit)
}

/// Returns the breakdown of each profiler step.
pub fn steps(trace: &Trace, options: &ListOptions) -> Rows {
    step_rows(trace).first(options.row_limit)
}

/// Returns PyTorch's event tree.
pub fn event_tree(trace: &Trace, options: &ListOptions) -> Rows {
    event_tree_rows(trace).first(options.row_limit)
}

/// Returns every function event.
pub fn events(trace: &Trace, options: &ListOptions) -> Rows {
    event_rows(trace, &FunctionEvents::new(trace)).first(options.row_limit)
}

/// Returns the spans of every category, grouped by name.
pub fn names(trace: &Trace, options: &NamesOptions) -> Rows {
    name_rows(trace, options.time, &options.tracks).first(options.row_limit)
}

/// Returns the counters.
pub fn counters(trace: &Trace, options: &ListOptions) -> Rows {
    counter_rows(&curves::counters(trace)).first(options.row_limit)
}

/// Returns the tracks of the timeline.
pub fn tracks(trace: &Trace, options: &ListOptions) -> Rows {
    track_rows(trace).first(options.row_limit)
}

/// Returns the identities that must hold, and every diagnostic of the file.
pub fn check(trace: &Trace, options: &ListOptions) -> Rows {
    checks::rows(trace, &checks::identities_of(trace)).first(options.row_limit)
}
