//! The questions, each with its options.

use super::entry::{Answer, Request, Verb, examples};
use super::options::{Opt, Takes};
use crate::analysis::device::kernels;
use crate::analysis::device::memory_rows::{self, memory_rows};
use crate::analysis::device::roofline::Peak;
use crate::analysis::device::steps::{self, step_rows};
use crate::analysis::device::work::{self, work_rows};
use crate::analysis::overview::summary::{self, DevicePart, HostPart, assemble, device_part, host_part};
use crate::analysis::overview::{info, ledger};
use crate::analysis::timeline::call_tree::{self, Cut, tree_rows};
use crate::analysis::timeline::counters::{self, counter_rows};
use crate::analysis::timeline::modules::{self, module_rows};
use crate::analysis::timeline::names::{self, name_rows};
use crate::analysis::timeline::tracks::{self, track_rows};
use crate::analysis::torch::average_rows;
use crate::analysis::torch::averages::key_averages;
use crate::analysis::torch::coverage::{self, coverage_rows};
use crate::analysis::torch::evaluation::{self, evaluation_rows};
use crate::analysis::torch::event_rows::{self, event_rows};
use crate::analysis::torch::function_events::FunctionEvents;
use crate::analysis::torch::patterns::{self, pattern_rows, rules::NamePattern};
use crate::analysis::torch::stacks::{self, stack_rows};
use crate::error::Error;
use crate::report::summary_text;
use crate::report::torch_table::{Recorded, TableOptions, render, select};
use crate::rows::{Cell, Rows, help};
use crate::trace::Trace;
use crate::units::TimeUnit;
use alloc::borrow::ToOwned;
use core::fmt::Write;

const fn opt(name: &'static str, value: &'static str, takes: Takes, about: &'static str) -> Opt {
    Opt { name, value, takes, about: help(about) }
}

const ROW_LIMIT: Opt = opt("row-limit", "N", Takes::Count, "At most this many rows, -1 for all");

/// Every question, in the order of a help text.
pub(super) const VERBS: &[Verb] = &[
    Verb {
        name: "summary",
        about: help("What was traced, where the time went, what looks wrong, how far to trust it"),
        examples: examples(&["run.pt.trace.json.gz"]),
        options: &[],
        is_one_row: true,
        columns: summary::COLUMNS,
        answer: |trace, request| Ok(summary(trace, request)),
    },
    Verb {
        name: "ops",
        about: help("Operators: torch's `key_averages`, as torch's table"),
        examples: examples(&[
            "run.json --sort-by self_cpu_time_total --row-limit 10",
            "run.json --group-by shape,stack:5 --format json",
        ]),
        options: OPS_OPTIONS,
        is_one_row: false,
        columns: average_rows::COLUMNS,
        answer: ops,
    },
    Verb {
        name: "kernels",
        about: help("Kernels, copies and fills by time"),
        examples: examples(&["run.json --format csv -o kernels.csv"]),
        options: &[ROW_LIMIT],
        is_one_row: false,
        columns: kernels::COLUMNS,
        answer: |trace, request| Ok(cut(kernels::kernels(trace), request).into()),
    },
    Verb {
        name: "flops",
        about: help(
            "Floating point operations by operator, how fast, and how much of the time formulas cover",
        ),
        examples: examples(&["run.json --row-limit 20", "run.json --peaks my-devices.csv"]),
        options: &[
            opt(
                "peaks",
                "FILE",
                Takes::File,
                "Figures of devices for the roofline: lines of name,fp64,fp32,tf32,half,int8,memory in TFLOP/s and GB/s",
            ),
            ROW_LIMIT,
        ],
        is_one_row: false,
        columns: work::COLUMNS,
        answer: flops,
    },
    Verb {
        name: "coverage",
        about: help("What torch.compile captured, and the operators that it missed"),
        examples: examples(&["run.json --row-limit 20"]),
        options: &[ROW_LIMIT],
        is_one_row: false,
        columns: coverage::COLUMNS,
        answer: |trace, request| {
            let rows = cut(coverage_rows(trace), request);
            Ok(or_hint(rows, "no compiled graph in this trace; record a program that calls torch.compile"))
        },
    },
    Verb {
        name: "patterns",
        about: help("Anti-patterns: where a known mistake costs time, and how much doing otherwise can save"),
        examples: examples(&["run.json", "run.json --report", "run.json --name aten::copy_"]),
        options: &[
            opt("name", "TEXT", Takes::Text, "Look for events whose names contain this text instead"),
            opt(
                "report",
                "",
                Takes::Nothing,
                "Print the report in the form of torch's `report_all_anti_patterns`",
            ),
            ROW_LIMIT,
        ],
        is_one_row: false,
        columns: patterns::COLUMNS,
        answer: |trace, request| Ok(find_patterns(trace, request)),
    },
    Verb {
        name: "evaluation",
        about: help(
            "Calls during which the GPU's queue ran empty, the most promising first: torch's `BasicEvaluation`",
        ),
        examples: examples(&["run.json --row-limit 10"]),
        options: &[ROW_LIMIT],
        is_one_row: false,
        columns: evaluation::COLUMNS,
        answer: |trace, request| {
            let rows = cut(evaluation_rows(trace), request);
            Ok(or_hint(
                rows,
                "the launch queue never fell from 4 kernels or more to none, or no launches were recorded",
            ))
        },
    },
    Verb {
        name: "memory",
        about: help(
            "Memory by device: peaks and who held them, steps, what was never released, failures; of traces and snapshots",
        ),
        examples: examples(&["run.json", "snapshot.pickle --format json"]),
        options: &[ROW_LIMIT],
        is_one_row: false,
        columns: memory_rows::COLUMNS,
        answer: |trace, request| {
            let rows = cut(memory_rows(trace), request);
            Ok(or_hint(
                rows,
                "no memory in this trace; record with profile_memory=True, or take a memory snapshot",
            ))
        },
    },
    Verb {
        name: "tree",
        about: help("The call tree of every lane, merged by name"),
        examples: examples(&["run.json --depth 6 --min-share 1", "run.json --bottom-up --depth 3"]),
        options: &[
            opt("bottom-up", "", Takes::Nothing, "The callers below each name rather than what it called"),
            opt("depth", "N", Takes::Count, "How many levels, 8 unless given, -1 for all"),
            opt(
                "min-share",
                "PERCENT",
                Takes::Percent,
                "Leave out what takes less than this percentage of its lane [default: 1 in a table, 0 elsewhere]",
            ),
            ROW_LIMIT,
        ],
        is_one_row: false,
        columns: call_tree::COLUMNS,
        answer: |trace, request| Ok(tree(trace, request)),
    },
    Verb {
        name: "modules",
        about: help("Time by nn.Module, on CPU and device, forward and backward"),
        examples: examples(&["run.json"]),
        options: &[ROW_LIMIT],
        is_one_row: false,
        columns: modules::COLUMNS,
        answer: |trace, request| {
            let rows = cut(module_rows(trace), request);
            Ok(or_hint(rows, "no modules in this trace; record with with_stack=True"))
        },
    },
    Verb {
        name: "stacks",
        about: help("Python stacks by self time"),
        examples: examples(&["run.json --row-limit 20"]),
        options: &[ROW_LIMIT],
        is_one_row: false,
        columns: stacks::COLUMNS,
        answer: |trace, request| {
            let rows = cut(stack_rows(&FunctionEvents::new(trace)), request);
            Ok(or_hint(rows, "no stacks in this trace; record with with_stack=True, or see `tree`"))
        },
    },
    Verb {
        name: "steps",
        about: help("What each profiler step spent its time on"),
        examples: examples(&["run.json"]),
        options: &[ROW_LIMIT],
        is_one_row: false,
        columns: steps::COLUMNS,
        answer: |trace, request| {
            let rows = cut(step_rows(trace), request);
            Ok(or_hint(rows, "no steps in this trace; call prof.step() while recording"))
        },
    },
    Verb {
        name: "events",
        about: help("Every function event, under torch's field names"),
        examples: examples(&["run.json --format csv -o events.csv"]),
        options: &[ROW_LIMIT],
        is_one_row: false,
        columns: event_rows::COLUMNS,
        answer: |trace, request| Ok(cut(event_rows(trace, &FunctionEvents::new(trace)), request).into()),
    },
    Verb {
        name: "names",
        about: help("Spans of every kind by name, in the whole trace or in a part of it"),
        examples: examples(&["run.json --time 10ms..20ms", "run.json --tracks 0,3 --row-limit 20"]),
        options: &[
            opt(
                "time",
                "RANGE",
                Takes::Times,
                "Only this time after the start of the recording: 1.5ms..20ms",
            ),
            opt("tracks", "LIST", Takes::Numbers, "Only these rows of `tracks`, by number"),
            ROW_LIMIT,
        ],
        is_one_row: false,
        columns: names::COLUMNS,
        answer: |trace, request| {
            let options = request.options;
            Ok(cut(name_rows(trace, options.pair("time"), options.numbers("tracks")), request).into())
        },
    },
    Verb {
        name: "counters",
        about: help("Curves over time: the file's counters, memory, launch queues, how busy devices are"),
        examples: examples(&["run.json"]),
        options: &[ROW_LIMIT],
        is_one_row: false,
        columns: counters::COLUMNS,
        answer: |trace, request| {
            let rows = cut(counter_rows(&counters::counters(trace)), request);
            Ok(or_hint(rows, "no counters, memory or device work in this trace"))
        },
    },
    Verb {
        name: "tracks",
        about: help("The rows of the timeline: threads and streams, with their spans"),
        examples: examples(&["run.json"]),
        options: &[ROW_LIMIT],
        is_one_row: false,
        columns: tracks::COLUMNS,
        answer: |trace, request| Ok(cut(track_rows(trace), request).into()),
    },
    Verb {
        name: "info",
        about: help("Counts, machine and metadata"),
        examples: examples(&["ranks/"]),
        options: &[],
        is_one_row: true,
        columns: info::COLUMNS,
        answer: |trace, request| Ok(info(trace, request)),
    },
    Verb {
        name: "ledger",
        about: help("Identities that must hold, and every oddity of the file; exit 1 when an identity fails"),
        examples: examples(&["run.json"]),
        options: &[ROW_LIMIT],
        is_one_row: false,
        columns: ledger::COLUMNS,
        answer: |trace, request| Ok(ledger(trace, request)),
    },
];

const OPS_OPTIONS: &[Opt] = &[
    opt(
        "sort-by",
        "NAME",
        Takes::SortKey,
        "A column of torch's table, such as `self_cpu_time_total`; rows stay in order of first use without it",
    ),
    opt(
        "row-limit",
        "N",
        Takes::Count,
        "At most this many rows, -1 for all [default: 100 in a table, all elsewhere]",
    ),
    opt(
        "group-by",
        "LIST",
        Takes::Groups,
        "Any of shape, stack:N, overload, module (the innermost nn.Module, as the stack)",
    ),
    opt("top-level-only", "", Takes::Nothing, "Only rows whose first event has no parent"),
    opt(
        "time-unit",
        "UNIT",
        Takes::Word(&["s", "ms", "us"]),
        "The unit of the table's times [default: what suits each value]",
    ),
    opt("max-name-width", "N", Takes::Width, "Longest name in the table, or none [default: 55]"),
    opt("max-shapes-width", "N", Takes::Width, "Longest shapes in the table, or none [default: 80]"),
    opt("max-src-width", "N", Takes::Width, "Longest stack frame in the table, or none [default: 75]"),
    opt("header", "TEXT", Takes::Text, "A line above the table"),
];

/// The first rows, as many as were asked for.
fn cut(mut rows: Rows, request: Request<'_>) -> Rows {
    rows.truncate(request.options.number("row-limit").and_then(|n| usize::try_from(n).ok()));
    rows
}

fn or_hint(rows: Rows, hint: &'static str) -> Answer {
    let hint = rows.rows.is_empty().then_some(hint);
    Answer { hint, ..rows.into() }
}

fn summary(trace: &Trace, request: Request<'_>) -> Answer {
    let (mut host, mut device) = (None::<HostPart>, None::<DevicePart>);
    (request.both)(&mut || host = Some(host_part(trace)), &mut || device = Some(device_part(trace)));
    let host = host.unwrap_or_else(|| host_part(trace));
    let device = device.unwrap_or_else(|| device_part(trace));
    let summary = assemble(trace, host, device);
    let text = request.for_reading.then(|| summary_text::render(request.name, trace, &summary));
    Answer { text, ..summary.rows(trace, summary_text::TOP).into() }
}

fn ops(trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
    let given = request.options;
    let options = TableOptions {
        sort_by: given.text("sort-by").map(ToOwned::to_owned),
        row_limit: given.number("row-limit").unwrap_or(if request.for_reading { 100 } else { -1 }),
        top_level_events_only: given.is_given("top-level-only"),
        time_unit: given.text("time-unit").and_then(TimeUnit::of),
        max_name_column_width: given.width("max-name-width", 55),
        max_shapes_column_width: given.width("max-shapes-width", 80),
        max_src_column_width: given.width("max-src-width", 75),
        header: given.text("header").map(ToOwned::to_owned),
    };
    let events = FunctionEvents::new(trace);
    let groups = key_averages(&events, &trace.table, given.groups("group-by"));
    let recorded = Recorded::of(&events);
    let text = if request.for_reading { Some(render(&groups, recorded, &options)?) } else { None };
    let (sorted, shown) = select(&groups, &options)?;
    let rows = average_rows::average_rows(shown.iter().map(|&at| &sorted[at]));
    Ok(Answer { text, ..rows.into() })
}

fn find_patterns(trace: &Trace, request: Request<'_>) -> Answer {
    let named = request.options.text("name").map(|text| {
        let text = text.to_owned();
        NamePattern::new(&text.clone(), move |name| name.contains(&text))
    });
    let rows = match &named {
        Some(named) => pattern_rows(trace, &[named]),
        None => pattern_rows(trace, &patterns::ALL),
    };
    let rows = cut(rows, request);
    let text = match request.for_reading {
        true if request.options.is_given("report") => Some(patterns::report(trace)),
        true if !rows.rows.is_empty() => Some(patterns::advice(&rows)),
        _ => None,
    };
    let hint = "none of the known patterns was found; some need record_shapes and with_stack";
    Answer { text, ..or_hint(rows, hint) }
}

fn tree(trace: &Trace, request: Request<'_>) -> Answer {
    let depth = request.options.number("depth").unwrap_or(8);
    let cut_at = Cut {
        depth: usize::try_from(depth).unwrap_or(usize::MAX),
        bottom_up: request.options.is_given("bottom-up"),
        min_share: request.options.share("min-share").unwrap_or(if request.for_reading { 0.01 } else { 0.0 }),
    };
    cut(tree_rows(trace, cut_at), request).into()
}

fn info(trace: &Trace, request: Request<'_>) -> Answer {
    let rows = info::info(trace);
    let text = request.for_reading.then(|| {
        let mut text = rows.transposed().to_text();
        let metadata = info::metadata(trace);
        if !metadata.rows.is_empty() {
            let _ = write!(text, "\n{}", metadata.to_text());
        }
        text
    });
    Answer { text, ..rows.into() }
}

fn flops(trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
    let devices = trace.table.metadata.device_names();
    let own = request.options.text("peaks");
    // Unequal devices are rare; the first one's figures count for all.
    let name = devices.first().map_or("", |(_, name)| name);
    let rows = cut(work_rows(trace, Peak::find(name, own)?), request);
    Ok(or_hint(rows, "no shapes in this trace; record with record_shapes=True"))
}

fn ledger(trace: &Trace, request: Request<'_>) -> Answer {
    let rows = ledger::ledger(trace);
    let holds = rows.columns.iter().position(|c| c.key == "holds");
    let failed = holds.is_some_and(|at| rows.rows.iter().any(|row| row[at] == Cell::Bool(false)));
    Answer { failed, ..cut(rows, request).into() }
}
