//! The exports. Each writes piece by piece, so that the complete text is never held in memory.

use super::export::{Export, ExportKind, Started};
use super::export_options::{
    ChromeOptions, CsvOptions, FoldedOptions, MemoryTimelineOptions, RedactOptions, ShrinkOptions,
    SliceOptions, TimelineForm,
};
use super::writing::{CompleteText, PIECE, Pieces, TextPieces, Writing};
use crate::analysis::device::memory::Memory;
use crate::analysis::query::Input::{ExecutionTrace, TorchRules};
use crate::analysis::query::examples;
use crate::analysis::query::options::{Opt, TypedOptions};
use crate::analysis::replay;
use crate::analysis::timeline::{call_tree, counters, samples};
use crate::analysis::torch::function_events::FunctionEvents;
use crate::analysis::torch::stacks;
use crate::base::error::Error;
use crate::base::order::sort_by;
use crate::base::units::counted;
use crate::base::words::help;
use crate::output::write::additions::Additions;
use crate::output::write::chrome::{ChromeWriter, Keep, Rewrite};
use crate::output::write::csv;
use crate::output::write::event_list::EventListWriter;
use crate::output::write::execution_trace::ExecutionTraceWriter;
use crate::output::write::memory_timeline::MemoryTimeline;
use crate::output::write::perfetto::PerfettoWriter;
use crate::output::write::redact::Redact;
use crate::output::write::select::{Selection, select};
use crate::trace::Trace;
use crate::trace::table::events::Row;
use crate::trace::table::metadata::Source;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Every export, in the order of the help text.
pub(super) const EXPORTS: &[Export] = &[
    Export {
        name: "chrome",
        kind: ExportKind::Form,
        about: help("Chrome trace; reading it again gives the same events"),
        examples: examples(&[
            "run.ktrace -o run.json",
            "run.json.zst --counters --critical-path -o more.json.gz",
        ]),
        options: ChromeOptions::DECLARED,
        inputs: &[],
        extension: None,
        media_type: "application/json",
        start: |trace, options, _| chrome_with(trace, &ChromeOptions::from_options(options, false)),
    },
    Export {
        name: "pftrace",
        kind: ExportKind::Form,
        about: help("Perfetto trace; reading it again gives the same events"),
        examples: examples(&["run.json.gz -o run.pftrace", "run.ktrace -o run.pftrace.gz"]),
        options: &[],
        inputs: &[],
        extension: Some("pftrace"),
        media_type: "application/octet-stream",
        start: |trace, _, _| pftrace(trace),
    },
    Export {
        name: "folded",
        kind: ExportKind::Form,
        about: help("Folded stacks for flame graphs: `export_stacks`, or samples"),
        examples: examples(&["run.json -o run.folded", "run.json --lanes -o run.folded"]),
        options: FoldedOptions::DECLARED,
        inputs: &[TorchRules],
        extension: Some("folded"),
        media_type: "text/plain",
        start: |trace, options, _| folded(trace, &FoldedOptions::from_options(options, false)),
    },
    Export {
        name: "eventlist",
        kind: ExportKind::Form,
        about: help("Function events as `EventList.export_chrome_trace` writes them"),
        examples: examples(&["run.json -o events.json", "records.json -o events.json.gz"]),
        options: &[],
        inputs: &[TorchRules],
        extension: None,
        media_type: "application/json",
        start: |trace, _, _| {
            let writer = EventListWriter::new(FunctionEvents::new(trace));
            Ok(Started::Writing(Writing::text(writer)))
        },
    },
    Export {
        name: "execution-trace",
        kind: ExportKind::Form,
        about: help("Operators and inputs for replay: `ExecutionTraceObserver`"),
        examples: examples(&["run.json -o run.et.json", "run.pt.trace.json.gz -o run.et.json.gz"]),
        options: &[],
        inputs: &[ExecutionTrace],
        extension: Some("et.json"),
        media_type: "application/json",
        start: |trace, _, _| Ok(execution_trace(trace)),
    },
    Export {
        name: "memory-timeline",
        kind: ExportKind::Form,
        about: help("Allocated memory over time: `export_memory_timeline`"),
        examples: examples(&[
            "run.json -o memory.html --form html",
            "snapshot.pickle --device cuda:0 --form raw -o memory.raw.json.gz",
        ]),
        options: MemoryTimelineOptions::DECLARED,
        inputs: &[],
        extension: Some("memory.json"),
        media_type: "application/json",
        start: |trace, options, _| {
            memory_timeline(trace, &MemoryTimelineOptions::from_options(options, false))
        },
    },
    Export {
        name: "csv",
        kind: ExportKind::Form,
        about: help("CSV with one line for each event"),
        examples: examples(&["run.json -o run.csv", "ranks/ -o csv/"]),
        options: CsvOptions::DECLARED,
        inputs: &[],
        extension: Some("csv"),
        media_type: "text/csv",
        start: |_, options, _| {
            let CsvOptions { exact } = CsvOptions::from_options(options, false);
            Ok(Started::Writing(Writing::text(Lines { next: 0, exact })))
        },
    },
    Export {
        name: "slice",
        kind: ExportKind::Edit,
        about: help("Cuts a trace to some steps, a time range, or some ranks"),
        examples: examples(&["run.json --steps 3-4 -o two-steps.json", "ranks/ --ranks 0,3 -o out/"]),
        options: SliceOptions::DECLARED,
        inputs: &[],
        extension: None,
        media_type: "application/json",
        start: |trace, options, _| slice(trace, &SliceOptions::from_options(options, false)),
    },
    Export {
        name: "shrink",
        kind: ExportKind::Edit,
        about: help("Removes short spans or some categories from a trace"),
        examples: examples(&[
            "run.json --min-duration 10us -o small.json.gz",
            "run.json --drop python_function -o small.json.gz",
        ]),
        options: ShrinkOptions::DECLARED,
        inputs: &[],
        extension: None,
        media_type: "application/json",
        start: |trace, options, _| shrink(trace, &ShrinkOptions::from_options(options, false)),
    },
    Export {
        name: "redact",
        kind: ExportKind::Edit,
        about: help("Replaces private strings; keeps structure, times and public names"),
        examples: examples(&["run.json --audit", "run.json -o public.json.gz"]),
        options: RedactOptions::DECLARED,
        inputs: &[],
        extension: None,
        media_type: "application/json",
        start: |trace, options, salt| redact(trace, &RedactOptions::from_options(options, false), salt),
    },
];

struct Chrome<R> {
    additions: Additions,
    writer: Option<ChromeWriter<String, R>>,
    keep: Option<Vec<bool>>,
    next: usize,
}

impl<R: Rewrite> TextPieces for Chrome<R> {
    fn next(&mut self, trace: &Trace, out: &mut String) -> bool {
        let Some(mut writer) = self.writer.take() else { return false };
        let table = &trace.table;
        while self.next < table.len() && writer.output().len() < PIECE {
            if self.keep.as_ref().is_none_or(|keep| keep[self.next]) {
                // Writing to a String cannot fail.
                let _ = writer.event(table, Row::new(self.next));
            }
            self.next += 1;
        }
        while self.next == table.len() && writer.output().len() < PIECE {
            let Some(json) = self.additions.next(trace) else {
                out.push_str(&writer.finish(table).unwrap_or_default());
                return false;
            };
            let _ = writer.addition(table, &json);
        }
        out.push_str(writer.output());
        writer.output().clear();
        self.writer = Some(writer);
        true
    }
}

/// Starts the export `chrome`.
///
/// # Errors
/// Returns [`Error::BadOption`] for an execution trace with counters or a critical path: its nodes have no times.
fn chrome_with(trace: &Trace, options: &ChromeOptions) -> Result<Started, Error> {
    if !options.counters && !options.critical_path {
        return Ok(Started::Writing(rewriting(Keep, None)));
    }
    if is_execution_trace(trace) {
        return Err(Error::BadOption("the nodes of an execution trace have no times".to_owned()));
    }
    let counters = if options.counters { counters::computed(trace) } else { Vec::new() };
    let path = if options.critical_path { replay::critical_path(trace, None) } else { Vec::new() };
    let writer = Some(ChromeWriter::with_rewrite(String::new(), Keep));
    let additions = Additions::new(counters, path);
    Ok(Started::Writing(Writing::text(Chrome { additions, writer, keep: None, next: 0 })))
}

/// Writes a trace in which something is replaced. One writer serves all of them, because each kind takes code of its own.
fn changed(rewrite: impl Rewrite + 'static, keep: Option<Vec<bool>>) -> Started {
    Started::Writing(rewriting(Box::new(rewrite) as Box<dyn Rewrite>, keep))
}

/// Starts the export `pftrace`.
///
/// # Errors
/// Returns [`Error::BadOption`] for an execution trace: its nodes have no times.
fn pftrace(trace: &Trace) -> Result<Started, Error> {
    if is_execution_trace(trace) {
        return Err(Error::BadOption("the nodes of an execution trace have no times to draw".to_owned()));
    }
    Ok(Started::Writing(Writing::new(PerfettoWriter::new(trace))))
}

/// Starts the export `execution-trace`. An execution trace is written again as it was read.
fn execution_trace(trace: &Trace) -> Started {
    if is_execution_trace(trace) {
        return Started::Writing(rewriting(Keep, None));
    }
    Started::Writing(Writing::text(ExecutionTraceWriter::new(trace)))
}

/// Starts the edit `redact`.
///
/// # Errors
/// Returns [`Error::BadOption`] for an empty salt, and for an execution trace: none of its fields is known as public, so
/// nothing of it would remain.
fn redact(trace: &Trace, options: &RedactOptions, salt: &[u8]) -> Result<Started, Error> {
    if is_execution_trace(trace) {
        return Err(Error::BadOption("execution traces cannot be redacted yet".to_owned()));
    }
    if options.salt.as_deref() == Some("") {
        return Err(Error::BadOption("salt: an empty salt protects nothing".to_owned()));
    }
    let mut redact = Redact::new(options.salt.as_deref().map_or(salt, str::as_bytes));
    let hint = match redact.lost(&trace.table) {
        0 => None,
        lost => Some(format!(
            "{} cannot be hidden without the loss of what they show: answers about kernels and idle time can differ",
            counted(lost, "name")
        )),
    };
    Ok(Started::Writing(rewriting(Box::new(redact) as Box<dyn Rewrite>, None).with_hint(hint)))
}

fn is_execution_trace(trace: &Trace) -> bool {
    trace.table.metadata.source == Source::ExecutionTrace
}

fn rewriting(rewrite: impl Rewrite + 'static, keep: Option<Vec<bool>>) -> Writing {
    let kept = keep.as_ref().map(|keep| keep.iter().filter(|&&k| k).count());
    let writer = ChromeWriter::with_rewrite(String::new(), rewrite);
    Writing::text(Chrome { additions: Additions::default(), writer: Some(writer), keep, next: 0 })
        .keeping(kept)
}

impl Pieces for PerfettoWriter {
    fn next(&mut self, trace: &Trace, out: &mut Vec<u8>) -> bool {
        PerfettoWriter::next(self, trace, out, PIECE)
    }
}

impl TextPieces for EventListWriter {
    fn next(&mut self, trace: &Trace, out: &mut String) -> bool {
        EventListWriter::next(self, &trace.table, out, PIECE)
    }
}

impl TextPieces for ExecutionTraceWriter {
    fn next(&mut self, trace: &Trace, out: &mut String) -> bool {
        ExecutionTraceWriter::next(self, trace, out, PIECE)
    }
}

impl TextPieces for call_tree::Folded {
    fn next(&mut self, trace: &Trace, out: &mut String) -> bool {
        call_tree::Folded::next(self, trace, out, PIECE)
    }
}

impl TextPieces for samples::Folded {
    fn next(&mut self, _: &Trace, out: &mut String) -> bool {
        samples::Folded::next(self, out, PIECE)
    }
}

struct Lines {
    next: usize,
    exact: bool,
}

impl TextPieces for Lines {
    fn next(&mut self, trace: &Trace, out: &mut String) -> bool {
        let table = &trace.table;
        if self.next == 0 {
            out.push_str(csv::HEADER);
        }
        let start = out.len();
        while self.next < table.len() && out.len() - start < PIECE {
            csv::event(table, Row::new(self.next), self.exact, out);
            self.next += 1;
        }
        self.next < table.len()
    }
}

/// Starts the export `folded`: the stacks of Python, else samples of call stacks with their numbers.
///
/// # Errors
/// Returns [`Error::BadOption`] if the trace has no stacks or no lines of calls, and `lanes` is not set, or if both
/// options are.
pub fn folded(trace: &Trace, options: &FoldedOptions) -> Result<Started, Error> {
    if options.lanes && options.call_sites {
        return Err(Error::BadOption("lanes have no calls: use lanes or call_sites, not both".to_owned()));
    }
    let lanes = || Ok(Started::Writing(Writing::text(call_tree::Folded::new(trace))));
    if options.lanes {
        return lanes();
    }
    let mut events = FunctionEvents::new(trace);
    if options.call_sites {
        events = events.with_call_sites(trace)?;
    }
    if !events.stacks.is_empty() {
        let text = stacks::export(&events, &trace.table, options.metric);
        return Ok(Started::Writing(Writing::new(CompleteText::new(text))));
    }
    if samples::has_samples(trace) {
        return Ok(Started::Writing(Writing::text(samples::Folded::new(trace))));
    }
    if events.is_empty() && !trace.tree.is_empty() && !options.call_sites {
        return lanes();
    }
    let message =
        "no stacks in this trace; record with with_stack, or use the option lanes to fold its spans instead";
    Err(Error::BadOption(message.to_owned()))
}

/// Starts the export `memory-timeline`.
///
/// # Errors
/// Returns [`Error::BadOption`] if the trace has no memory events of the device.
pub fn memory_timeline(trace: &Trace, options: &MemoryTimelineOptions) -> Result<Started, Error> {
    let memory = Memory::new(trace);
    let timeline = MemoryTimeline::new(trace, &memory, options.device.as_deref())?;
    let text = match options.form {
        TimelineForm::Json => timeline.json(),
        TimelineForm::Raw => timeline.raw(),
        TimelineForm::Html => timeline.html(),
    };
    Ok(Started::Writing(Writing::new(CompleteText::new(text))))
}

fn nothing_given(declared: &[Opt]) -> Error {
    let names: Vec<&str> = declared.iter().map(|option| option.name).collect();
    Error::BadOption(format!("one of these options is required: {}", names.join(", ")))
}

/// Starts the export `slice`.
///
/// # Errors
/// Returns [`Error::BadOption`] if no option is given, or the trace has none of the steps.
pub fn slice(trace: &Trace, options: &SliceOptions) -> Result<Started, Error> {
    if *options == SliceOptions::default() {
        return Err(nothing_given(SliceOptions::DECLARED));
    }
    let ranks = &options.ranks;
    if !ranks.is_empty() && trace.table.metadata.rank().is_none_or(|rank| !ranks.contains(&rank)) {
        return Ok(Started::Skipped);
    }
    let selection = Selection { steps: options.steps, time: options.time, ..Selection::default() };
    let selected = select(trace, &selection)?;
    Ok(changed(selected.samples, Some(selected.keep)))
}

/// Starts the export `shrink`.
///
/// # Errors
/// Returns [`Error::BadOption`] if no option is given.
pub fn shrink(trace: &Trace, options: &ShrinkOptions) -> Result<Started, Error> {
    if *options == ShrinkOptions::default() {
        return Err(nothing_given(ShrinkOptions::DECLARED));
    }
    let selection = Selection {
        min_duration_ns: options.min_duration_ns.unwrap_or(0),
        drop_categories: options.drop.clone(),
        ..Selection::default()
    };
    let mut writing = rewriting(Keep, Some(select(trace, &selection)?.keep));
    writing.hint = absent_categories(trace, &options.drop);
    Ok(Started::Writing(writing))
}

/// Returns a hint if no event has some of these categories.
fn absent_categories(trace: &Trace, categories: &[String]) -> Option<String> {
    let table = &trace.table;
    let present: Vec<&str> =
        table.layouts.all().iter().filter_map(|layout| Some(table.names.get(layout.cat?))).collect();
    let absent: Vec<&str> =
        categories.iter().map(String::as_str).filter(|category| !present.contains(category)).collect();
    (!absent.is_empty()).then(|| {
        let mut present = present;
        sort_by(&mut present, Ord::cmp);
        present.dedup();
        format!("no event has the category {}; the categories are: {}", absent.join(", "), present.join(", "))
    })
}
