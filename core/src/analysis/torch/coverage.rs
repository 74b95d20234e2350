//! The coverage of `torch.compile`, computed from a trace.
//!
//! The call of a compiled graph is an annotation named `Torch-Compiled Region…` (`TORCHDYNAMO` before PyTorch 2).
//! On each thread, only operators that begin after the previous one ended are counted, which excludes callees. An operator that ends within a region was captured. A region of *n* operators saves
//! *n* − 1 launches by the host: its fusions. User annotations do not count as operators here, because a profiler step
//! would hide all others. A region without operators saves none. [`ProfileResult`] has the different counts of `torch._dynamo.profiler`, of traces that it recorded.

use super::dynamo::{ANNOTATION, ProfileResult};
use super::function_events::{EventKind, FunctionEvent, FunctionEvents};
use super::profile_metrics::{Percent, ProfileMetrics, is_compiled_region};
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::question::Question;
use crate::analysis::query::{Answer, Input, Query, Request};
use crate::base::names::{ByName, NameId};
use crate::base::order::{descending, sort_by_key};
use crate::base::page::Page;
use crate::base::rows::{Column, Rows, Shape, columns};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::Table;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use serde_json::Value;

/// The query `coverage`.
pub(crate) const COVERAGE: Query = Query::new(
    "coverage",
    "What torch.compile captured, and the operators outside of graphs",
    COLUMNS,
    |trace, request| Ok(answer(trace, request)),
)
.examples(&["run.json --row-limit 20", "run.json --format json -o coverage.json"])
.options::<ListOptions>()
.inputs(&[Input::TorchRules])
.questions(&[Question::Operators])
.hint("this trace has no compiled graph; record a program that calls torch.compile");

fn answer(trace: &Trace, request: Request<'_>) -> Answer {
    let (rows, dynamo) = coverage_rows(trace);
    let answer = request.limited(rows);
    let is_text = request.for_reading && !answer.rows.rows.is_empty();
    let text = is_text.then(|| coverage_text(&answer.rows, dynamo.as_ref()));
    Answer { text, ..answer }
}

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS:
        fn row(kind: CoverageKind, name: &str, metrics: ProfileMetrics, percent: Percent, stack: &[String]) {
        let is_dynamo = matches!(kind, CoverageKind::DynamoCaptured | CoverageKind::DynamoTotal);
    } [
        Column::word("kind", "Kind", &CoverageKind::VOCABULARY, "captured or total for the sums, dynamo_captured or dynamo_total for those of torch._dynamo.profiler, graph for a compiled graph, missed for an operator outside of every graph.") =>
            kind.as_str(),
        Column::text("name", "Name", "The name of the graph or operator.") => name,
        Column::int("graphs", "Graph calls", "The number of calls of compiled graphs.") => metrics.graphs,
        Column::int("operators", "Operators", "The number of operators, without callees of other operators.") =>
            metrics.operators,
        Column::int("fusions", "Fusions", "Operators beyond the first of each graph call: the launches that compilation saves.") =>
            metrics.fusions,
        Column::ns("time_ns", "CPU time", "CPU time, including callees; for a graph, that of its calls.") =>
            metrics.time_ns,
        Column::ns("device_time_ns", "Device time", "Sum of the durations of the device work launched in them.")
            .nullable() => (!is_dynamo).then_some(metrics.device_time_ns),
        Column::share("operators_share", "of operators", "The share of all operators.").nullable() =>
            percent.operators,
        Column::share("time_share", "of CPU time", "The share of the CPU time of all operators.")
            .nullable() => percent.time,
        Column::share("device_time_share", "of device time", "The share of all device time.").nullable() =>
            percent.device_time,
        Column::json("stack", "", Shape::Texts, "The stack of the first missed operator with this name, innermost frame first.") =>
            Value::from(stack),
    ]
}

words! {
    "CoverageKind"
    /// The kind of a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum CoverageKind {
        /// The sum of the compiled graphs.
        Captured = "captured",
        /// The sum of all operators.
        Total = "total",
        /// The sum of the compiled graphs, as Dynamo's profiler counts.
        DynamoCaptured = "dynamo_captured",
        /// The sum of all operators, as Dynamo's profiler counts.
        DynamoTotal = "dynamo_total",
        /// A compiled graph.
        Graph = "graph",
        /// An operator outside of every graph.
        Missed = "missed",
    }
}

/// The operators of one name outside of every graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Missed {
    /// The sums over all of them.
    pub metrics: ProfileMetrics,
    /// The first one.
    pub first: Option<FunctionEvent>,
}

/// The captured and the missed operators.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub(crate) struct Coverage {
    /// The sums inside of compiled graphs.
    pub captured: ProfileMetrics,
    /// The sums of all operators.
    pub total: ProfileMetrics,
    /// The sums of each graph, by name.
    pub graphs: ByName<ProfileMetrics>,
    /// The operators outside of every graph, by name.
    pub missed: ByName<Missed>,
}

/// Returns whether an event is work of the compiler itself, not an operator of the program.
fn is_own(name: &str) -> bool {
    name == "TorchDynamo Cache Lookup"
}

/// The state of the count on one thread.
#[derive(Clone, Copy)]
struct Thread {
    last_end: i64,
    region: Option<Region>,
}

/// The outermost open region of a thread.
#[derive(Clone, Copy)]
struct Region {
    name: NameId,
    end: i64,
    operators: i64,
}

/// Computes the coverage of a trace.
pub(crate) fn coverage(table: &Table, events: &FunctionEvents) -> Coverage {
    let device_totals = events.device_totals_ns();
    let begun = Thread { last_end: i64::MIN, region: None };
    let mut threads = vec![begun; table.tracks.all().len()];
    let mut out = Coverage::default();
    for event in events.events().filter(|&event| events.kind(event) == EventKind::Cpu) {
        let row = events.row(event);
        let (start, end, name) = (table.ts(row), table.end(row), table.name_id(row));
        let thread = &mut threads[table.track_id(row).0 as usize];
        let metrics = ProfileMetrics {
            time_ns: events.cpu_time_total_ns(table, event),
            device_time_ns: device_totals[event.index()],
            ..ProfileMetrics::default()
        };
        let inside = thread.region.as_mut().filter(|region| end <= region.end);
        if is_compiled_region(table.name(row)) {
            // A region within another one is part of the same call.
            if inside.is_none() {
                thread.region = Some(Region { name, end, operators: 0 });
                *out.graphs.entry(name) += ProfileMetrics { graphs: 1, ..metrics };
            }
        } else if table.category(row) == Category::CpuOp
            && !is_own(table.name(row))
            && start >= thread.last_end
        {
            thread.last_end = end;
            if let Some(region) = inside {
                let fusions = i64::from(region.operators > 0);
                region.operators += 1;
                // Its time is part of the region's.
                *out.graphs.entry(region.name) +=
                    ProfileMetrics { operators: 1, fusions, ..ProfileMetrics::default() };
            } else {
                let missed = out.missed.entry(name);
                missed.first.get_or_insert(event);
                missed.metrics += ProfileMetrics { operators: 1, ..metrics };
            }
        }
    }
    out.captured = out.graphs.entries().iter().map(|(_, metrics)| *metrics).sum();
    let missed: ProfileMetrics = out.missed.entries().iter().map(|(_, m)| m.metrics).sum();
    out.total = out.captured + missed;
    out.total.fusions = (out.total.operators - 1).max(0);
    out
}

/// Returns the rows: the captured sum, the total, the graphs, and the missed operators, each ordered by time; none for
/// a trace without graphs. Also returns the result of Dynamo's profiler.
pub(crate) fn coverage_rows(trace: &Trace) -> (Rows, Option<ProfileResult>) {
    let table = &trace.table;
    let mut rows = Rows::new(COLUMNS);
    let is_compiled = table.names.iter().any(|(_, name)| is_compiled_region(name));
    if !is_compiled {
        return (rows, None);
    }
    let events = FunctionEvents::new(trace);
    let coverage = coverage(table, &events);
    let has_annotations = table.names.find(ANNOTATION).is_some();
    let dynamo = has_annotations.then(|| ProfileResult::new(table, &events));
    let mut push = |kind: CoverageKind, name: &str, metrics: ProfileMetrics, stack: &[String]| {
        let percent = match (&dynamo, kind) {
            (Some(dynamo), CoverageKind::DynamoCaptured) => dynamo.shares(),
            (_, CoverageKind::DynamoTotal) => Percent::default(),
            _ => metrics.percent_of(coverage.total),
        };
        rows.push(row(kind, name, metrics, percent, stack));
    };
    push(CoverageKind::Captured, "all graphs", coverage.captured, &[]);
    push(CoverageKind::Total, "all operators", coverage.total, &[]);
    if let Some(dynamo) = &dynamo {
        push(CoverageKind::DynamoCaptured, "all graphs, by Dynamo's profiler", dynamo.captured, &[]);
        push(CoverageKind::DynamoTotal, "all operators, by Dynamo's profiler", dynamo.total, &[]);
    }
    let mut graphs = coverage.graphs.entries().to_vec();
    sort_by_key(&mut graphs, |(_, m)| (descending(m.device_time_ns), descending(m.time_ns)));
    for (name, metrics) in graphs {
        push(CoverageKind::Graph, table.names.get(name), metrics, &[]);
    }
    let mut missed = coverage.missed.entries().to_vec();
    sort_by_key(&mut missed, |(_, m)| (descending(m.metrics.device_time_ns), descending(m.metrics.time_ns)));
    for (name, sum) in missed {
        let stack = sum.first.map_or(&[][..], |first| events.stacks.get(events.stack(first)));
        push(CoverageKind::Missed, table.names.get(name), sum.metrics, stack);
    }
    (rows, dynamo)
}

/// Returns the rows as a table, followed by the text of Dynamo's profiler.
pub(crate) fn coverage_text(rows: &Rows, dynamo: Option<&ProfileResult>) -> Page {
    let mut page = Page::default();
    page.table(rows);
    if let Some(dynamo) = dynamo {
        page.blank();
        page.line(format!("Dynamo's profiler: {dynamo}"));
        dynamo.missing.iter().for_each(|line| page.line(line));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows::Cell;
    use alloc::vec::Vec;

    fn op(name: &str, tid: u32, ts: u32, dur: u32) -> String {
        format!(r#"{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":{tid},"ts":{ts},"dur":{dur}}}"#)
    }

    #[test]
    fn operators_inside_of_graphs_are_captured() {
        let events = [
            op("ProfilerStep#1", 1, 0, 1000).replace("cpu_op", "user_annotation"),
            op("aten::zeros", 1, 0, 10),
            op("TorchDynamo Cache Lookup", 1, 12, 5),
            op("Torch-Compiled Region: 0/0", 1, 20, 50),
            op("aten::mm", 1, 25, 20),
            op("aten::inner", 1, 30, 5),
            op("aten::add", 1, 50, 10),
            op("Torch-Compiled Region: 1/0", 2, 20, 30),
            op("aten::mul", 2, 22, 8),
            op("aten::linear", 1, 80, 40),
            op("aten::addmm", 1, 85, 10),
            op("aten::zeros", 1, 130, 20),
        ];
        let trace = Trace::read(format!("[{}]", events.join(",")).as_bytes()).expect("a trace");
        let found = coverage(&trace.table, &FunctionEvents::new(&trace));
        let expected =
            ProfileMetrics { time_ns: 80_000, device_time_ns: 0, operators: 3, fusions: 1, graphs: 2 };
        assert_eq!(found.captured, expected);
        assert_eq!((found.total.operators, found.total.fusions, found.total.graphs), (6, 5, 2));
        assert_eq!(found.total.time_ns, 150_000);
        let percent = found.captured.percent_of(found.total);
        assert_eq!((percent.operators, percent.device_time), (Some(0.5), None));
        let rows = coverage_rows(&trace).0.rows;
        let names: Vec<String> = rows.iter().map(|row| format!("{:?}", row[1])).collect();
        assert_eq!(rows.len(), 6, "{names:?}");
        assert_eq!(rows[2][1], "Torch-Compiled Region: 0/0".into());
        assert_eq!(rows[4][..4], ["missed".into(), "aten::linear".into(), Cell::Int(0), Cell::Int(1)]);
        assert_eq!(rows[5][3], Cell::Int(2));
    }

    #[test]
    fn a_graph_without_operators_saves_nothing() {
        let events = [
            op("Torch-Compiled Region: 0/0", 1, 0, 10),
            op("Torch-Compiled Region: 0/0", 1, 20, 50),
            op("aten::mm", 1, 25, 5),
            op("aten::add", 1, 32, 5),
            op("aten::mul", 1, 80, 5),
        ];
        let trace = Trace::read(format!("[{}]", events.join(",")).as_bytes()).expect("a trace");
        let found = coverage(&trace.table, &FunctionEvents::new(&trace));
        assert_eq!((found.captured.graphs, found.captured.operators, found.captured.fusions), (2, 2, 1));
    }

    #[test]
    fn a_trace_without_graphs_has_no_rows() {
        let trace = Trace::read(format!("[{}]", op("aten::mm", 1, 0, 1)).as_bytes()).expect("a trace");
        assert!(coverage_rows(&trace).0.rows.is_empty());
    }
}
