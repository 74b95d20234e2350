//! The summary as text.

mod other_files;

use crate::analysis::context::Analysis;
use crate::analysis::device::device_time::DeviceTime;
use crate::analysis::device::kernels::KernelGroup;
use crate::analysis::device::models::Device;
use crate::analysis::device::names::short_name;
use crate::analysis::device::steps::PARTS;
use crate::analysis::overview::fitness::Verdict;
use crate::analysis::overview::info;
use crate::analysis::overview::summary::{self, Summary, longest_gaps, mean_step_ns};
use crate::analysis::query::question::Question;
use crate::analysis::query::{Answer, Input, Query, Request};
use crate::base::demangle::demangled;
use crate::base::diagnostics::{Code, Severity};
use crate::base::names::{ByName, NameId, Names};
use crate::base::order::sort_by_key;
use crate::base::page::Page;
use crate::base::rows::{Cell, Rows};
use crate::base::units::{count, counted, time_ns};
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The query `summary`.
pub const SUMMARY: Query = Query::new(
    "summary",
    "Summary: device time, steps, top operators and kernels, findings",
    summary::COLUMNS,
    |trace, request| Ok(answer(trace, request)),
)
.examples(&["run.pt.trace.json.gz", "run.json --format json -o summary.json"])
.inputs(&[Input::TorchRules, Input::KernelRules, Input::StepRules, Input::Captures, Input::Provenance])
.one_row()
.questions(&Question::ALL);

fn answer(trace: &Trace, request: Request<'_>) -> Answer {
    let analysis = Analysis::new(trace).run_by(request.join);
    if request.for_reading {
        return Answer::page(render(request.name, &analysis));
    }
    summary::rows(&analysis, TOP).into()
}

/// The number of rows of each list.
pub const TOP: usize = 10;

/// Renders the summary of the trace `name`.
pub fn render(name: &str, analysis: &Analysis<'_>) -> Page {
    let (trace, summary) = (analysis.trace, analysis.summary());
    let mut out = Page::default();
    head(&mut out, name, trace, summary);
    if let Some(bound) = &summary.bound {
        out.line(format!("{}.", bound.message));
    }
    fitness(&mut out, summary);
    devices(&mut out, analysis.devices());
    steps(&mut out, analysis);
    operators(&mut out, summary);
    kernels(&mut out, analysis.kernel_groups());
    tracks(&mut out, summary);
    functions(&mut out, trace, summary);
    other_files::memory(&mut out, trace, summary);
    other_files::nodes(&mut out, trace);
    gaps(&mut out, analysis);
    findings(&mut out, summary);
    data_quality(&mut out, analysis);
    out
}

fn head(out: &mut Page, name: &str, trace: &Trace, summary: &Summary) {
    let table = &trace.table;
    let samples = trace.samples.list().len();
    let (without, event) =
        if trace.has_events() { ("", "event") } else { (other_files::EMPTY, "metadata event") };
    let mut facts = vec![name.to_owned(), format!("{}{without}", info::producer(table))];
    if let Some(rank) = table.metadata.rank() {
        let of = table.metadata.world_size().map_or(String::new(), |n| format!(" of {n}"));
        facts.push(format!("rank {rank}{of}"));
    }
    facts.extend(device_labels(&Device::all(&table.metadata)));
    out.line(facts.join(" · "));
    if let Some(facts) = other_files::facts(trace, summary) {
        out.line(facts.join(" · "));
        return;
    }
    let wall = summary.wall;
    let mut facts = vec![time_ns(wall.1 - wall.0, None), counted(table.len(), event)];
    if samples > 0 {
        let is_of_events = trace.diagnostics.count(Code::EventStack) > 0;
        facts.push(counted(samples, if is_of_events { "call stack" } else { "sample" }));
    }
    for (category, n) in info::categories(table) {
        use crate::trace::table::category::Category;
        let what = match category {
            Category::CpuOp => "operator",
            Category::PythonFunction => "Python call",
            Category::Kernel => "kernel",
            Category::Memcpy => "memcpy",
            _ => continue,
        };
        facts.push(counted(n, what));
    }
    out.line(facts.join(" · "));
}

/// The names of devices, equal ones with their number.
fn device_labels(devices: &[Device]) -> Vec<String> {
    let (mut names, mut counts) = (Names::default(), ByName::<usize>::default());
    for label in devices.iter().map(Device::label) {
        *counts.entry(names.intern(&label)) += 1;
    }
    let text = |&(label, count): &(NameId, usize)| match (count, names.get(label)) {
        (1, label) => label.to_owned(),
        (count, label) => format!("{count} × {label}"),
    };
    counts.entries().iter().map(text).collect()
}

/// Which questions the trace can answer, and a line for each reason why not.
fn fitness(out: &mut Page, summary: &Summary) {
    for (verdict, label) in
        [(Verdict::Good, "Fit for"), (Verdict::Limited, "Limited for"), (Verdict::Unfit, "Unfit for")]
    {
        let mut label = label;
        for (reason, questions) in reasons(summary, verdict) {
            let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            out.hanging(format!("{label:<12}  {}{because}", questions.join(", ")), 16);
            label = "";
        }
    }
}

/// The reasons of a verdict, each with the questions that it is about; an empty one for questions without any.
fn reasons(summary: &Summary, verdict: Verdict) -> Vec<(&str, Vec<String>)> {
    let mut all: Vec<(&str, Vec<String>)> = Vec::new();
    for fitness in summary.fitness.iter().filter(|fitness| fitness.verdict == verdict) {
        let messages = fitness.reasons.iter().map(|reason| reason.message.as_str());
        let none = fitness.reasons.is_empty().then_some("");
        for message in messages.chain(none) {
            let question = fitness.question.label();
            match all.iter_mut().find(|known| known.0 == message) {
                Some(known) => known.1.push(question),
                None => all.push((message, Vec::from([question]))),
            }
        }
    }
    all
}

fn devices(out: &mut Page, devices: &[DeviceTime]) {
    let mut rows = Rows::page(&["GPU", "Work", "Count", "Busy", "of window", "Sum", "Exposed"]);
    for device in devices {
        let window = (device.window.1 - device.window.0).max(1);
        let share = |ns: i64| Cell::Share(ns as f64 / window as f64);
        rows.push(vec![
            device.device.as_str().into(),
            "all".into(),
            device.count.into(),
            Cell::Ns(device.busy_ns),
            share(device.busy_ns),
            Cell::Ns(device.sum_ns),
            Cell::Null,
        ]);
        for class in &device.classes {
            rows.push(vec![
                "".into(),
                class.class.label().into(),
                class.count.into(),
                Cell::Ns(class.busy_ns),
                share(class.busy_ns),
                Cell::Ns(class.sum_ns),
                Cell::Ns(class.exposed_ns),
            ]);
        }
        for (cause, ns) in device.idle_by_cause().into_iter().filter(|c| c.1 > 0) {
            let what = format!("idle, {}", cause.label());
            rows.push(vec![
                "".into(),
                what.into(),
                Cell::Null,
                Cell::Ns(ns),
                share(ns),
                Cell::Null,
                Cell::Null,
            ]);
        }
    }
    out.indented("GPU time", &rows);
}

fn steps(out: &mut Page, analysis: &Analysis<'_>) {
    let (table, steps) = (&analysis.trace.table, analysis.steps());
    let Some(mean) = mean_step_ns(steps) else { return };
    let n = steps.len();
    let walls = steps.iter().map(|s| s.time.1 - s.time.0);
    let (shortest, longest) = (walls.clone().min().unwrap_or(0), walls.clone().max().unwrap_or(0));
    let total = walls.sum::<i64>().max(1);
    let first = table.name(steps[0].row);
    let mut pids: Vec<_> = steps.iter().map(|step| table.track(step.row).pid).collect();
    sort_by_key(&mut pids, |pid| (i64::from(pid.0), 0));
    pids.dedup();
    let processes = pids.len();
    let of = if processes > 1 { format!(" of {processes} processes") } else { String::new() };
    let title = if n == 1 {
        format!("Step: {first}, {}", time_ns(mean, None))
    } else {
        format!(
            "Steps: {n}{of} from {first}, mean {}, {} to {}",
            time_ns(mean, None),
            time_ns(shortest, None),
            time_ns(longest, None)
        )
    };
    let mean = if processes > 1 { "Mean of a step, all processes" } else { "Mean of a step" };
    let mut rows = Rows::page(&["Part", mean, "Share"]);
    for (at, part) in PARTS.iter().enumerate() {
        let sum: i64 = steps.iter().map(|s| s.parts_ns[at]).sum();
        if sum > 0 {
            rows.push(vec![
                part.replace('_', " ").into(),
                Cell::Ns(sum / n as i64),
                Cell::Share(sum as f64 / total as f64),
            ]);
        }
    }
    out.indented(&title, &rows);
    if !analysis.iterations().0.is_empty() {
        out.line("  serving: these iterations by phase, with tokens, graph replays and what bounds them");
    }
}

fn operators(out: &mut Page, summary: &Summary) {
    let has_device = summary.operators.iter().any(|r| r.device_time_total_ns > 0);
    let mut columns = vec!["Operator", "Calls", "Self CPU", "Share", "CPU total"];
    if has_device {
        columns.push("GPU total");
    }
    let mut rows = Rows::page(&columns);
    for row in summary.operators.iter().take(TOP) {
        let mut cells = vec![
            row.key.as_str().into(),
            Cell::Int(row.count as i64),
            Cell::Ns(row.self_cpu_time_total_ns),
            Cell::Share(row.self_cpu_time_total_ns as f64 / summary.self_cpu_ns.max(1) as f64),
            Cell::Ns(row.cpu_time_total_ns),
        ];
        if has_device {
            cells.push(Cell::Ns(row.device_time_total_ns));
        }
        rows.push(cells);
    }
    out.indented(&top("operators by self CPU time", summary.operators.len()), &rows);
}

pub(super) fn top(what: &str, of: usize) -> String {
    if of > TOP { format!("Top {TOP} of {} {what}", count(of)) } else { format!("All {what}") }
}

fn kernels(out: &mut Page, groups: &[KernelGroup]) {
    let total: i64 = groups.iter().map(|k| k.sum_ns).sum();
    let mut rows = Rows::page(&["Kernel", "Count", "Total", "Share", "Mean"]);
    for group in groups.iter().take(TOP) {
        rows.push(vec![
            short_name(&group.name).into(),
            group.count.into(),
            Cell::Ns(group.sum_ns),
            Cell::Share(group.sum_ns as f64 / total.max(1) as f64),
            Cell::Ns(group.sum_ns / group.count.max(1) as i64),
        ]);
    }
    out.indented(&top("kernels, memcpys and memsets by time", groups.len()), &rows);
}

fn tracks(out: &mut Page, summary: &Summary) {
    let mut rows = Rows::page(&["Track", "Spans", "Time"]);
    for (name, spans, time) in summary.tracks.iter().take(TOP) {
        rows.push(vec![name.as_str().into(), (*spans).into(), Cell::Ns(*time)]);
    }
    out.indented(&top("tracks by time", summary.tracks.len()), &rows);
}

/// Functions by their samples of call stacks.
fn functions(out: &mut Page, trace: &Trace, summary: &Summary) {
    let functions = &summary.functions;
    let mut rows = Rows::page(&["Function", "Samples", "Share", "Own", "Own share"]);
    for row in functions.rows.iter().take(TOP) {
        rows.push(row[..5].to_vec());
    }
    let is_of_events = trace.diagnostics.count(Code::EventStack) > 0;
    let what = if is_of_events { "functions by call stacks of events" } else { "functions by own samples" };
    out.indented(&top(what, functions.rows.len()), &rows);
}

fn gaps(out: &mut Page, analysis: &Analysis<'_>) {
    let trace = analysis.trace;
    let mut rows = Rows::page(&["Idle", "At", "GPU", "Cause", "Until"]);
    for (device, at) in longest_gaps(analysis.devices(), 5) {
        let gap = &device.gaps[at];
        let name = trace.table.name(gap.after);
        rows.push(vec![
            Cell::Ns(gap.time.1 - gap.time.0),
            Cell::Ns(gap.time.0.saturating_sub(trace.start_ns)),
            device.device.as_str().into(),
            device.main_cause(gap).label().into(),
            short_name(&demangled(name)).into(),
        ]);
    }
    out.indented("Longest idle gaps of a GPU", &rows);
}

fn findings(out: &mut Page, summary: &Summary) {
    if summary.findings.is_empty() {
        return;
    }
    let error = summary.findings.iter().find_map(|finding| Some(finding.saving?.error_ns));
    let title = error.map(|ns| {
        format!(
            ", with what a replay without each saves: alone (* if it takes no time at all), and beyond those above. The replay is off by {}",
            time_ns(ns, None)
        )
    });
    out.blank();
    out.line(format!("Findings{}", title.unwrap_or_default()));
    for finding in &summary.findings {
        let savings = finding.saving.map(|saving| [saving.alone_ns, saving.added_ns]);
        let [alone, added] =
            savings.map_or(["–".into(), String::new()], |ns| ns.map(|ns| time_ns(ns, None)));
        let mark = if finding.is_ideal && savings.is_some() { "*" } else { " " };
        // Messages are in the third column.
        out.hanging(format!("  {alone:>9}{mark} {added:>9}  {}", finding.message), 24);
        out.hanging(format!("{:23}→ {}", "", finding.advice), 25);
        if !finding.command.is_empty() {
            out.hanging(format!("{:23}→ kinetoscope {}", "", finding.command), 25);
        }
    }
}

fn data_quality(out: &mut Page, analysis: &Analysis<'_>) {
    let (trace, checks) = (analysis.trace, analysis.identities());
    let broken: Vec<_> = checks.iter().filter(|c| !c.holds).collect();
    out.blank();
    out.line("Data quality");
    if broken.is_empty() {
        out.line(format!("  All {} identities hold.", checks.len()));
    }
    for check in broken {
        out.line(format!("  ✗ {}: {} is not {}", check.name, check.left, check.right));
    }
    let total = |severity| -> usize {
        let lines = trace.diagnostics.findings().iter().filter(|f| f.code.severity() == severity);
        lines.map(|f| f.count as usize).sum()
    };
    let outside = trace.diagnostics.count(Code::OutsideWindow) as usize;
    let what = if outside > 0 { "window" } else { "file" };
    if outside > 0 {
        let has_member = trace.table.metadata.text("samples").is_some();
        let events = if has_member {
            format!("{} events and samples", count(outside))
        } else {
            counted(outside, "event")
        };
        out.line(format!(
            "  Only a window of time was read, without {events} outside of it. Spans that reach beyond it"
        ));
        out.line("  have their full durations.");
    }
    if trace.diagnostics.count(Code::Nanoseconds) > 0 {
        out.line(format!("  {}", Code::Nanoseconds.description()));
    }
    for finding in trace.diagnostics.findings().iter().filter(|f| f.code == Code::UnlikelyUnit) {
        out.line(format!("  {} {}", finding.code.description(), finding.example));
    }
    let notes = total(Severity::Note) - outside;
    let (lost, repaired) = (total(Severity::Lost), total(Severity::Repaired));
    match (lost, repaired, notes) {
        (0, 0, 0) => out.line(format!("  The {what} was read completely, without diagnostics.")),
        (0, 0, n) => {
            out.line(format!("  The {what} was read completely, with {}: see `check`.", counted(n, "note")));
        }
        (0, r, n) => out.line(format!(
            "  Nothing was lost; {} and {}: see `check`.",
            counted(r, "repair"),
            counted(n, "note")
        )),
        (l, r, _) => out.line(format!(
            "  {} lost or uncertain, {}: see `check`.",
            counted(l, "part"),
            counted(r, "repair")
        )),
    }
}
