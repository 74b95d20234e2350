//! The verbs that answer: read each trace, ask the engine, print in the form that was asked for.

use super::args::{Format, Grouping, How, OpsArgs, RowArgs, TreeArgs};
use super::progress::read_or_tell;
use super::{CHECK_FAILED, Failure, PARTLY_READ};
use crate::input::{Source, sources};
use crate::output::Output;
use kinetoscope_core::analysis::average_rows::average_rows;
use kinetoscope_core::analysis::averages::{GroupBy, key_averages};
use kinetoscope_core::analysis::call_tree::{Cut, tree_rows};
use kinetoscope_core::analysis::event_rows::event_rows;
use kinetoscope_core::analysis::function_events::FunctionEvents;
use kinetoscope_core::analysis::stacks::stack_rows;
use kinetoscope_core::analysis::steps::step_rows;
use kinetoscope_core::analysis::summary::{Summary, assemble, device_part, host_part};
use kinetoscope_core::analysis::{info as facts, kernels as work, ledger as proof};
use kinetoscope_core::diagnostics::Severity;
use kinetoscope_core::error::Error;
use kinetoscope_core::report::document::Document;
use kinetoscope_core::report::summary_text;
use kinetoscope_core::report::torch_table::{Recorded, TableOptions, render, select};
use kinetoscope_core::rows::{Cell, Rows};
use kinetoscope_core::trace::Trace;
use std::fmt::Write;
use std::path::PathBuf;
use std::thread;

/// The answer about one trace.
struct Answer {
    rows: Rows,
    /// What stands in a table's place, where it is more than the rows.
    text: Option<String>,
    code: u8,
}

impl From<Rows> for Answer {
    fn from(rows: Rows) -> Answer {
        Answer { rows, text: None, code: 0 }
    }
}

/// Whether part of a trace was lost.
pub(super) fn is_partial(trace: &Trace) -> bool {
    trace.diagnostics.worst() == Some(Severity::Lost)
}

/// Asks every trace and prints the answers; the worst exit code wins.
fn answer(
    verb: &str,
    traces: &[PathBuf],
    how: &How,
    ask: impl Fn(&Source, &Trace) -> Result<Answer, Error>,
) -> Result<u8, Failure> {
    let sources = sources(traces)?;
    let mut document = Document::new(verb);
    let mut text = String::new();
    let mut code = 0;
    for source in &sources {
        let Some(trace) = read_or_tell(source, &mut code) else { continue };
        let answer = ask(source, &trace).map_err(|error| Failure::usage(error.to_string()))?;
        code = code.max(answer.code);
        if how.strict && is_partial(&trace) {
            code = code.max(PARTLY_READ);
        }
        match how.format {
            Format::Json => document.add(&source.name(), &trace, &answer.rows),
            Format::Csv => add_csv(&mut text, &source.name(), answer.rows, sources.len() > 1),
            Format::Table | Format::Md => {
                if sources.len() > 1 && answer.text.is_none() {
                    let _ = writeln!(text, "{}{}", if text.is_empty() { "" } else { "\n" }, source.name());
                } else if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&match (how.format, answer.text) {
                    (Format::Table, Some(text)) => text,
                    (Format::Md, _) => answer.rows.to_markdown(),
                    _ => answer.rows.to_text(),
                });
            }
        }
    }
    if how.format == Format::Json && !document.is_empty() {
        text = document.finish();
    }
    let mut output = Output::create(how.output.as_deref())?;
    let _ = output.write_str(&text);
    output.finish()?;
    Ok(code)
}

/// Appends rows as CSV; with several traces, a first column names them and the keys stand once.
fn add_csv(text: &mut String, name: &str, mut rows: Rows, several: bool) {
    if several {
        rows.prepend("trace", &Cell::from(name));
    }
    let csv = rows.to_csv();
    let skip = if text.is_empty() { 0 } else { csv.find('\n').map_or(0, |at| at + 1) };
    text.push_str(&csv[skip..]);
}

/// The summary, its two parts on a thread each.
fn overview_of(trace: &Trace) -> Summary {
    thread::scope(|scope| {
        let device = scope.spawn(|| device_part(trace));
        let host = host_part(trace);
        let device = device.join().unwrap_or_else(|_| device_part(trace));
        assemble(trace, host, device)
    })
}

pub(super) fn summary(traces: &[PathBuf], how: &How) -> Result<u8, Failure> {
    answer("summary", traces, how, |source, trace| {
        let summary = overview_of(trace);
        let text = summary_text::render(&source.name(), trace, &summary);
        Ok(Answer { rows: summary.rows(trace, summary_text::TOP), text: Some(text), code: 0 })
    })
}

pub(super) fn ops(args: &OpsArgs) -> Result<u8, Failure> {
    let mut by = GroupBy::default();
    for grouping in &args.group_by {
        match *grouping {
            Grouping::Shape => by.shape = true,
            Grouping::Stack(depth) => by.stack = depth,
            Grouping::Overload => by.overload = true,
        }
    }
    let is_table = args.input.how.format == Format::Table;
    let options = TableOptions {
        sort_by: args.sort_by.clone(),
        row_limit: args.row_limit.unwrap_or(if is_table { 100 } else { -1 }),
        top_level_events_only: args.top_level_only,
        time_unit: args.time_unit,
        max_name_column_width: args.max_name_width.0,
        max_shapes_column_width: args.max_shapes_width.0,
        max_src_column_width: args.max_src_width.0,
        header: args.header.clone(),
    };
    answer("ops", &args.input.traces, &args.input.how, |_, trace| {
        let events = FunctionEvents::new(trace);
        let groups = key_averages(&events, &trace.table, by);
        let recorded = Recorded {
            use_device: events.use_device,
            profile_memory: events.profile_memory,
            with_flops: events.with_flops,
        };
        let text = if is_table { Some(render(&groups, recorded, &options)?) } else { None };
        let (sorted, shown) = select(&groups, &options)?;
        Ok(Answer { rows: average_rows(&events, shown.iter().map(|&at| &sorted[at])), text, code: 0 })
    })
}

/// A verb whose answer is rows, cut at the limit.
fn rows(verb: &str, args: &RowArgs, ask: impl Fn(&Trace) -> Rows) -> Result<u8, Failure> {
    answer(verb, &args.input.traces, &args.input.how, |_, trace| {
        let mut rows = ask(trace);
        rows.truncate(args.row_limit);
        Ok(rows.into())
    })
}

pub(super) fn kernels(args: &RowArgs) -> Result<u8, Failure> {
    rows("kernels", args, work::kernels)
}

pub(super) fn tree(args: &TreeArgs) -> Result<u8, Failure> {
    let is_table = args.input.how.format == Format::Table;
    let percent = args.min_share.unwrap_or(if is_table { 1.0 } else { 0.0 });
    let cut = Cut { depth: args.depth, min_share: percent / 100.0 };
    answer("tree", &args.input.traces, &args.input.how, |_, trace| {
        let mut rows = tree_rows(trace, cut);
        rows.truncate(args.row_limit);
        Ok(rows.into())
    })
}

pub(super) fn stacks(args: &RowArgs) -> Result<u8, Failure> {
    rows("stacks", args, |trace| {
        let events = FunctionEvents::new(trace);
        if events.stacks.is_empty() {
            eprintln!(
                "kinetoscope: no stacks in this trace; record with with_stack=True and verbose=True, or see `tree`"
            );
        }
        stack_rows(&events)
    })
}

pub(super) fn steps(args: &RowArgs) -> Result<u8, Failure> {
    rows("steps", args, |trace| {
        let rows = step_rows(trace);
        if rows.rows.is_empty() {
            eprintln!("kinetoscope: no steps in this trace; call prof.step() while recording");
        }
        rows
    })
}

pub(super) fn events(args: &RowArgs) -> Result<u8, Failure> {
    rows("events", args, |trace| event_rows(trace, &FunctionEvents::new(trace)))
}

pub(super) fn info(args: &RowArgs) -> Result<u8, Failure> {
    answer("info", &args.input.traces, &args.input.how, |_, trace| {
        let mut rows = facts::info(trace);
        rows.truncate(args.row_limit);
        let mut text = rows.transposed().to_text();
        let metadata = facts::metadata(trace);
        if !metadata.rows.is_empty() {
            let _ = write!(text, "\n{}", metadata.to_text());
        }
        Ok(Answer { rows, text: Some(text), code: 0 })
    })
}

pub(super) fn ledger(args: &RowArgs) -> Result<u8, Failure> {
    answer("ledger", &args.input.traces, &args.input.how, |_, trace| {
        let mut rows = proof::ledger(trace);
        let holds = rows.columns.iter().position(|c| c.key == "holds");
        let broken = holds.is_some_and(|at| rows.rows.iter().any(|row| row[at] == Cell::Bool(false)));
        rows.truncate(args.row_limit);
        Ok(Answer { rows, text: None, code: if broken { CHECK_FAILED } else { 0 } })
    })
}
