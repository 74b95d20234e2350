//! The list of queries, and the parts of answers that are not rows.
//!
//! This is one file because each query is one entry of the list, and a new one is written after those that are there.

use super::analyses;
use super::answer_options::{
    BreakdownOptions, FitnessOptions, FlopsOptions, IdleOptions, KernelsOptions, LaunchesOptions,
    ListOptions, NamesOptions, OpsOptions, PatternsOptions, RowsOf, SamplesOptions, SequencesOptions,
    StacksOptions, TasksOptions, TreeOptions,
};
use super::entry::Input::{ExecutionTrace, KernelRules, TorchRules};
use super::entry::{Answer, Query, Request, examples};
use super::options::Typed;
use super::ranks;
use super::replay_options::{CriticalPathOptions, WhatIfOptions};
use crate::analysis::device::{
    breakdown, collectives, idle_rows, kernel_rows, launch_rows, memory_rows, sequence_rows, steps, work,
};
use crate::analysis::overview::fitness::Question;
use crate::analysis::overview::{check, fitness, info, summary};
use crate::analysis::replay::{path_rows, what_if_rows};
use crate::analysis::tasks::task_rows;
use crate::analysis::timeline::{call_tree, counters, modules, names, samples, tracks};
use crate::analysis::torch::averages::GroupBy;
use crate::analysis::torch::{
    average_rows, coverage, evaluation, event_rows, event_tree_rows, node_rows, patterns, stacks,
};
use crate::base::error::Error;
use crate::base::page::Page;
use crate::base::rows::Rows;
use crate::base::words::help;
use crate::output::report::summary_text;
use crate::runs::ranks::columns;
use crate::runs::ranks::report::RanksOptions;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use alloc::format;

/// The query `summary`.
pub const SUMMARY: Query = Query {
    name: "summary",
    about: help("Summary: device time, steps, top operators and kernels, findings"),
    examples: examples(&["run.pt.trace.json.gz", "run.json --format json -o summary.json"]),
    options: &[],
    inputs: &[TorchRules, KernelRules],
    is_one_row: true,
    columns: summary::COLUMNS,
    variants: &[],
    questions: &Question::ALL,
    hint: None,
    run: |trace, request| Ok(summary(trace, request)),
};

/// The query `ops`.
pub const OPS: Query = Query {
    name: "ops",
    about: help("Operators: PyTorch's `key_averages`, as PyTorch's table"),
    examples: examples(&[
        "run.json --sort-by self_cpu_time_total --row-limit 10",
        "run.json --group-by shape,stack:5 --format json",
    ]),
    options: OpsOptions::DECLARED,
    inputs: &[TorchRules],
    is_one_row: false,
    columns: average_rows::COLUMNS,
    variants: &[],
    questions: &[Question::Operators],
    hint: None,
    run: ops,
};

/// The query `tracks`.
pub const TRACKS: Query = Query {
    name: "tracks",
    about: help("Threads and streams with their events and busy time"),
    examples: examples(&["run.json", "run.json --row-limit 10 --format json"]),
    options: ListOptions::DECLARED,
    inputs: &[],
    is_one_row: false,
    columns: tracks::COLUMNS,
    variants: &[],
    questions: &[],
    hint: None,
    run: |trace, request| Ok(analyses::tracks(trace, &request.typed()).into()),
};

/// Every query, in the order of the help text.
pub(super) const QUERIES: &[Query] = &[
    SUMMARY,
    OPS,
    Query {
        name: "kernels",
        about: help("Kernels, memcpys and memsets by time"),
        examples: examples(&[
            "run.json --row-limit 20",
            "run.json --by category --format csv -o kernels.csv",
        ]),
        options: KernelsOptions::DECLARED,
        inputs: &[KernelRules],
        is_one_row: false,
        columns: kernel_rows::COLUMNS,
        variants: &[],
        questions: &[Question::DeviceTime],
        hint: Some("no device work in this trace; record with ProfilerActivity.CUDA"),
        run: |trace, request| Ok(analyses::kernels(trace, &request.typed()).into()),
    },
    Query {
        name: "sequences",
        about: help("Sequences of kernels that repeat, and what one launch saves"),
        examples: examples(&["run.json --row-limit 10", "run.json --operator aten::linear --min-count 1"]),
        options: SequencesOptions::DECLARED,
        inputs: &[KernelRules],
        is_one_row: false,
        columns: sequence_rows::COLUMNS,
        variants: &[],
        questions: &[Question::DeviceTime],
        hint: Some("no sequence of kernels occurs that often; lower --min-count or --min-length"),
        run: |trace, request| Ok(analyses::sequences(trace, &request.typed())?.into()),
    },
    Query {
        name: "fitness",
        about: help("Fitness: which questions the trace can answer, and why not others"),
        examples: examples(&["run.json", "ranks/ --require idle,communication --format json"]),
        options: FitnessOptions::DECLARED,
        inputs: &[KernelRules],
        is_one_row: false,
        columns: fitness::COLUMNS,
        variants: &[],
        questions: &[],
        hint: None,
        run: fitness,
    },
    Query {
        name: "breakdown",
        about: help("Time of devices: compute, exposed communication and copies, idle"),
        examples: examples(&["run.json", "ranks/ --by step --format csv -o steps.csv"]),
        options: BreakdownOptions::DECLARED,
        inputs: &[KernelRules],
        is_one_row: false,
        columns: breakdown::COLUMNS,
        variants: &[],
        questions: &[Question::DeviceTime],
        hint: Some("no device work in this trace; record with ProfilerActivity.CUDA"),
        run: |trace, request| Ok(analyses::breakdown(trace, &request.typed()).into()),
    },
    Query {
        name: "idle",
        about: help("Idle time of devices by cause, and what stood behind it"),
        examples: examples(&["run.json", "run.json --by stream --format json"]),
        options: IdleOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: idle_rows::COLUMNS,
        variants: &[],
        questions: &[Question::Idle],
        hint: Some("no device was idle between activities, or none were recorded"),
        run: |trace, request| Ok(analyses::idle(trace, &request.typed()).into()),
    },
    Query {
        name: "launches",
        about: help("Launches: delay, calls, short kernels, launch queues and bandwidth"),
        examples: examples(&["run.json", "run.json --by launch --row-limit 20"]),
        options: LaunchesOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: launch_rows::COLUMNS,
        variants: &[],
        questions: &[Question::DeviceTime],
        hint: Some("no device work with its launch in this trace; record with ProfilerActivity.CUDA and CPU"),
        run: |trace, request| Ok(analyses::launches(trace, &request.typed()).into()),
    },
    Query {
        name: "tasks",
        about: help("Asynchronous tasks: time in polls, waits and what they waited for"),
        examples: examples(&["run.ktrace", "run.ktrace --by wait --row-limit 20"]),
        options: TasksOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: task_rows::COLUMNS,
        variants: &[],
        questions: &[],
        hint: Some("no asynchronous spans in this trace; record with the layer for `tracing`"),
        run: |trace, request| Ok(analyses::tasks(trace, &request.typed()).into()),
    },
    Query {
        name: "critical-path",
        about: help("Critical path: what the end of the trace or a step depended on"),
        examples: examples(&["run.json --step 5", "run.json --time 10ms..20ms --format json"]),
        options: CriticalPathOptions::DECLARED,
        inputs: &[KernelRules],
        is_one_row: false,
        columns: path_rows::COLUMNS,
        variants: &[],
        questions: &[Question::Idle],
        hint: Some("this trace has no calls, operators or device work"),
        run: |trace, request| Ok(analyses::critical_path(trace, &request.typed())?.into()),
    },
    Query {
        name: "what-if",
        about: help("What changes would save, by replaying the trace with them"),
        examples: examples(&["run.json", "run.json --free data-loading,sync --faster gemm=2"]),
        options: WhatIfOptions::DECLARED,
        inputs: &[KernelRules],
        is_one_row: false,
        columns: what_if_rows::COLUMNS,
        variants: &[],
        questions: &[Question::Idle],
        hint: Some("this trace has no calls, operators or device work, or nothing would save time"),
        run: |trace, request| Ok(analyses::what_if(trace, &request.typed())?.into()),
    },
    Query {
        name: "collectives",
        about: help("Collectives: what each call sent, and how long it took"),
        examples: examples(&["rank0.json", "rank0.json --row-limit 20 --format csv"]),
        options: ListOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: collectives::COLUMNS,
        variants: &[],
        questions: &[Question::Communication],
        hint: Some(
            "no calls of collectives in this trace: PyTorch records them with its backends for several ranks",
        ),
        run: |trace, request| Ok(analyses::collectives(trace, &request.typed()).into()),
    },
    Query {
        name: "ranks",
        about: help("Several ranks: who was late and why, collectives, clocks"),
        examples: examples(&["traces/", "rank*.json.gz --rank 7 --step 12", "traces.tar.gz --format json"]),
        options: RanksOptions::DECLARED,
        inputs: &[KernelRules],
        is_one_row: false,
        columns: columns::COLUMNS,
        variants: columns::VARIANTS,
        questions: &[],
        hint: None,
        run: ranks::of_one,
    },
    Query {
        name: "flops",
        about: help("FLOPs, FLOP/s and roofline by operator"),
        examples: examples(&["run.json --row-limit 20", "run.json --peaks my-devices.csv"]),
        options: FlopsOptions::DECLARED,
        inputs: &[TorchRules],
        is_one_row: false,
        columns: work::COLUMNS,
        variants: &[],
        questions: &[Question::Operators],
        hint: Some("this trace has no shapes; record with record_shapes=True"),
        run: |trace, request| Ok(analyses::flops(trace, &request.typed())?.into()),
    },
    Query {
        name: "coverage",
        about: help("What torch.compile captured, and the operators outside of graphs"),
        examples: examples(&["run.json --row-limit 20", "run.json --format json -o coverage.json"]),
        options: ListOptions::DECLARED,
        inputs: &[TorchRules],
        is_one_row: false,
        columns: coverage::COLUMNS,
        variants: &[],
        questions: &[Question::Operators],
        hint: Some("this trace has no compiled graph; record a program that calls torch.compile"),
        run: |trace, request| Ok(coverage(trace, request)),
    },
    Query {
        name: "patterns",
        about: help("Anti-patterns with their place and the time that a fix can save"),
        examples: examples(&["run.json --report", "run.json --name aten::copy_"]),
        options: PatternsOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: patterns::COLUMNS,
        variants: &[],
        questions: &[],
        hint: Some("nothing was found; some anti-patterns require record_shapes=True and with_stack=True"),
        run: patterns,
    },
    Query {
        name: "evaluation",
        about: help("Calls during which the launch queue ran empty: `BasicEvaluation`"),
        examples: examples(&["run.json --row-limit 10", "run.json --format csv -o evaluation.csv"]),
        options: ListOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: evaluation::COLUMNS,
        variants: &[],
        questions: &[],
        hint: Some("the launch queue never fell from 4 or more kernels to 0, or no launches were recorded"),
        run: |trace, request| Ok(analyses::evaluation(trace, &request.typed()).into()),
    },
    Query {
        name: "memory",
        about: help("Memory by device: peaks, their owners, steps, unreleased memory"),
        examples: examples(&["run.json", "snapshot.pickle --format json"]),
        options: ListOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: memory_rows::COLUMNS,
        variants: memory_rows::VARIANTS,
        questions: &[Question::Memory],
        hint: Some(
            "this trace has no memory events; record with profile_memory=True, or take a memory snapshot",
        ),
        run: |trace, request| Ok(analyses::memory(trace, &request.typed()).into()),
    },
    Query {
        name: "tree",
        about: help("Call tree of every thread and stream, merged by name"),
        examples: examples(&["run.json --depth 6 --min-share 1", "run.json --bottom-up --depth 3"]),
        options: TreeOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: call_tree::COLUMNS,
        variants: &[],
        questions: &[],
        hint: None,
        run: |trace, request| Ok(analyses::tree(trace, &request.typed()).into()),
    },
    Query {
        name: "modules",
        about: help("CPU and device time by nn.Module, forward and backward"),
        examples: examples(&["run.json", "run.json --row-limit 20 --format md"]),
        options: ListOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: modules::COLUMNS,
        variants: &[],
        questions: &[],
        hint: Some("this trace has no modules; record with with_stack=True"),
        run: |trace, request| {
            let rows = analyses::modules(trace, &request.typed());
            Ok(Answer { hint: without_stacks(trace), ..rows.into() })
        },
    },
    Query {
        name: "stacks",
        about: help("Python stacks by self time"),
        examples: examples(&["run.json --row-limit 20", "run.json --format json -o stacks.json"]),
        options: StacksOptions::DECLARED,
        inputs: &[TorchRules],
        is_one_row: false,
        columns: stacks::COLUMNS,
        variants: &[],
        questions: &[Question::Operators],
        hint: Some("this trace has no stacks; record with with_stack=True, or use `tree`"),
        run: |trace, request| {
            let rows = analyses::stacks(trace, &request.typed())?;
            Ok(Answer { hint: without_stacks(trace), ..rows.into() })
        },
    },
    Query {
        name: "steps",
        about: help("Profiler steps: what each spent its time on"),
        examples: examples(&["run.json", "run.json --format csv -o steps.csv"]),
        options: ListOptions::DECLARED,
        inputs: &[KernelRules],
        is_one_row: false,
        columns: steps::COLUMNS,
        variants: &[],
        questions: &[Question::Steps],
        hint: Some("this trace has no steps; call prof.step() while recording"),
        run: |trace, request| Ok(analyses::steps(trace, &request.typed()).into()),
    },
    Query {
        name: "events",
        about: help("Every function event, with PyTorch's field names"),
        examples: examples(&["run.json --row-limit 100", "run.json --format csv -o events.csv"]),
        options: ListOptions::DECLARED,
        inputs: &[TorchRules, ExecutionTrace],
        is_one_row: false,
        columns: event_rows::COLUMNS,
        variants: &[],
        questions: &[Question::Operators],
        hint: None,
        run: |trace, request| Ok(analyses::events(trace, &request.typed()).into()),
    },
    Query {
        name: "event-tree",
        about: help("Operators, Python calls and allocations as PyTorch nests them"),
        examples: examples(&["run.json --row-limit 100", "run.json --format json -o tree.json"]),
        options: ListOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: event_tree_rows::COLUMNS,
        variants: &[],
        questions: &[Question::Operators],
        hint: None,
        run: |trace, request| Ok(analyses::event_tree(trace, &request.typed()).into()),
    },
    Query {
        name: "nodes",
        about: help("Operators of an execution trace, with their tensors and arguments"),
        examples: examples(&["execution_trace.json", "execution_trace.json --format json -o nodes.json"]),
        options: ListOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: node_rows::COLUMNS,
        variants: &[],
        questions: &[],
        hint: Some("this is no execution trace, as PyTorch's ExecutionTraceObserver writes it"),
        run: |trace, request| Ok(analyses::nodes(trace, &request.typed()).into()),
    },
    Query {
        name: "samples",
        about: help("Samples of call stacks: where the CPU time went, also in no span"),
        examples: examples(&["run.ktrace --row-limit 20", "run.ktrace --by tree --span request"]),
        options: SamplesOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: samples::COLUMNS,
        variants: &[],
        questions: &[],
        hint: Some(
            "no samples in this trace, or none that the options select; Kinetoscope's recorder takes them with `sample_stacks`",
        ),
        run: |trace, request| Ok(analyses::samples(trace, &request.typed()).into()),
    },
    Query {
        name: "names",
        about: help("Spans of every category by name"),
        examples: examples(&["run.json --time 10ms..20ms", "run.json --tracks 0,3 --row-limit 20"]),
        options: NamesOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: names::COLUMNS,
        variants: &[],
        questions: &[],
        hint: None,
        run: |trace, request| Ok(analyses::names(trace, &request.typed()).into()),
    },
    Query {
        name: "counters",
        about: help("Counters, allocated memory, launch queues and device activity"),
        examples: examples(&["run.json", "snapshot.pickle --format json"]),
        options: ListOptions::DECLARED,
        inputs: &[],
        is_one_row: false,
        columns: counters::COLUMNS,
        variants: &[],
        questions: &[],
        hint: Some("this trace has no counters, memory events or device work"),
        run: |trace, request| Ok(analyses::counters(trace, &request.typed()).into()),
    },
    TRACKS,
    Query {
        name: "info",
        about: help("Event counts, machine and metadata"),
        examples: examples(&["ranks/", "run.json --format json"]),
        options: &[],
        inputs: &[TorchRules],
        is_one_row: true,
        columns: info::COLUMNS,
        variants: &[],
        questions: &[],
        hint: None,
        run: |trace, request| Ok(info(trace, request)),
    },
    Query {
        name: "check",
        about: help("Data quality: identities and diagnostics; exit code 1 on failure"),
        examples: examples(&["run.json --strict", "ranks/ --format json -o check.json"]),
        options: ListOptions::DECLARED,
        inputs: &[TorchRules, KernelRules],
        is_one_row: false,
        columns: check::COLUMNS,
        variants: check::VARIANTS,
        questions: &[],
        hint: None,
        run: |trace, request| Ok(check(trace, request)),
    },
];

/// Returns an answer that is a page of text instead of rows.
fn page(text: Page) -> Answer {
    Answer { text: Some(text), ..Rows::default().into() }
}

fn summary(trace: &Trace, request: Request<'_>) -> Answer {
    let summary = summary::summary_by(trace, request.join);
    if request.for_reading {
        return page(summary_text::render(request.name, trace, &summary));
    }
    summary.rows(trace, summary_text::TOP).into()
}

fn ops(trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
    let options: OpsOptions = request.typed();
    let python_functions = options.group_by.python_functions;
    let is_grouped = options.group_by != GroupBy { python_functions, ..GroupBy::default() };
    if options.rows != RowsOf::Averages && is_grouped {
        return Err(Error::BadOption("group-by: only averages have groups".into()));
    }
    if options.rows == RowsOf::Total && options.table.top_level_events_only {
        return Err(Error::BadOption("top-level-only: a total is of all events".into()));
    }
    if let Some(by) = options.table.sort_by.filter(|by| by.is_of_events() && options.rows != RowsOf::Events) {
        let message = format!("sort-by: only events have the attribute {}; add --rows events", by.as_str());
        return Err(Error::BadOption(message));
    }
    if request.for_reading {
        return Ok(page(analyses::ops_table(trace, &options)));
    }
    Ok(analyses::ops(trace, &options).into())
}

fn coverage(trace: &Trace, request: Request<'_>) -> Answer {
    let options: ListOptions = request.typed();
    let (rows, dynamo) = coverage::coverage_rows(trace);
    let rows = rows.first(options.row_limit);
    let is_text = request.for_reading && !rows.rows.is_empty();
    let text = is_text.then(|| coverage::coverage_text(&rows, dynamo.as_ref()));
    Answer { text, ..rows.into() }
}

fn patterns(trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
    let options: PatternsOptions = request.typed();
    let rows = analyses::patterns(trace, &options, request.compile)?;
    let text = match request.for_reading {
        true if options.report => Some(analyses::patterns_report(trace, &options, request.compile)?),
        true if !rows.rows.is_empty() => Some(patterns::advice(&rows)),
        _ => None,
    };
    Ok(Answer { text, ..rows.into() })
}

fn info(trace: &Trace, request: Request<'_>) -> Answer {
    let rows = info::info(trace);
    if !request.for_reading {
        return rows.into();
    }
    let mut text = Page::default();
    text.table(&rows.transposed());
    let metadata = info::metadata(trace);
    if !metadata.rows.is_empty() {
        text.blank();
        text.table(&metadata);
    }
    page(text)
}

fn fitness(trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
    let options: FitnessOptions = request.typed();
    let (answers, failed) = analyses::fitness_of(trace, &options)?;
    Ok(Answer { failed, ..fitness::fitness_rows(&answers).into() })
}

fn check(trace: &Trace, request: Request<'_>) -> Answer {
    let options: ListOptions = request.typed();
    let identities = check::identities_of(trace);
    let failed = identities.iter().any(|identity| !identity.holds);
    Answer { failed, ..check::rows(trace, &identities).first(options.row_limit).into() }
}

/// Why a trace that was recorded with stacks has none; `None` if it was not.
fn without_stacks(trace: &Trace) -> Option<&'static str> {
    let table = &trace.table;
    let has = |category: Category| table.rows_of(category).next().is_some();
    let is_on = table.metadata.flag("with_stack") == Some(true);
    if !is_on {
        None
    } else if has(Category::CpuOp) || has(Category::PythonFunction) {
        Some("this trace has none, although with_stack is on in it; use `tree`")
    } else {
        Some(
            "with_stack is on in this trace, but it has no events of the CPU; record with activities=[ProfilerActivity.CPU, …]",
        )
    }
}
