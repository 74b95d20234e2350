//! The result of `torch._dynamo.profiler`, by its own definition, from the events of its trace.
//!
//! It wraps each graph in an annotation named `TORCHDYNAMO`. Regions that newer versions record by themselves,
//! `Torch-Compiled Region: …`, are operators to it. How many graphs were compiled is not in the trace; it is computed
//! from the regions around the annotations, one for each graph.
//!
//! Dynamo's profiler goes through all events of a program in the order of their start, whatever their thread. An event
//! that begins before the end of the last counted one is its callee and is left out. It counts user annotations as
//! operators, so that a profiler step counts as one operator that hides all others. It subtracts one operator for each
//! graph call, and one for itself, because its own calls are among the events. Python functions are left out: they were
//! no events when the definition was made.

use super::function_events::{EventKind, FunctionEvent, FunctionEvents, is_python_call};
use super::profile_metrics::{Percent, ProfileMetrics, is_torch_region};
use crate::base::names::NameId;
use crate::base::order::sort_by_key;
use crate::trace::table::events::Table;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::AddAssign;

/// What Dynamo's profiler counts. The sum of two results has their sums.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileResult {
    /// The operators inside of graphs.
    pub captured: ProfileMetrics,
    /// All operators. It has no graph calls.
    pub total: ProfileMetrics,
    /// The number of graphs: of distinct compiled regions around the annotations. `None` if an annotation has no region
    /// around it, as before PyTorch 2: the trace then does not show which graph was called.
    pub unique_graphs: Option<usize>,
    /// A line for each place from which missed operators were called, once.
    pub missing: Vec<String>,
}

/// The name of the annotation around each graph.
pub(super) const ANNOTATION: &str = "TORCHDYNAMO";

/// Returns the innermost compiled region around an annotation.
fn graph_around(table: &Table, events: &FunctionEvents, annotation: FunctionEvent) -> Option<NameId> {
    let mut ancestors = core::iter::successors(events.parent(annotation), |&event| events.parent(event));
    let region = ancestors.find(|&event| is_torch_region(table.name(events.row(event))))?;
    Some(table.name_id(events.row(region)))
}

/// The frames of a missed operator that are printed: the outermost ones.
const SHOWN_FRAMES: usize = 3;

impl Default for ProfileResult {
    /// Returns the result of no events.
    fn default() -> ProfileResult {
        let (captured, total) = Default::default();
        ProfileResult { captured, total, unique_graphs: Some(0), missing: Vec::new() }
    }
}

impl ProfileResult {
    /// Counts the events of a trace.
    pub fn new(table: &Table, events: &FunctionEvents) -> ProfileResult {
        let is_operator = |&event: &FunctionEvent| {
            events.kind(event) == EventKind::Cpu && !is_python_call(table, events.row(event))
        };
        let mut all: Vec<FunctionEvent> = events.events().filter(is_operator).collect();
        sort_by_key(&mut all, |&event| (events.start_ns(table, event), 0));
        let mut out = ProfileResult::default();
        let mut graphs: Vec<Option<NameId>> = Vec::new();
        let (mut last_end, mut region_end) = (i64::MIN, i64::MIN);
        for event in all {
            let row = events.row(event);
            let (start, end) = (table.ts(row), table.end(row));
            if table.name(row) == ANNOTATION {
                region_end = end;
                out.captured.graphs += 1;
                out.total.operators -= 1;
                let graph = graph_around(table, events, event);
                if !graphs.contains(&graph) {
                    graphs.push(graph);
                }
            } else if start >= last_end {
                last_end = end;
                let metrics = ProfileMetrics {
                    operators: 1,
                    time_ns: events.cpu_time_total_ns(table, event),
                    ..ProfileMetrics::default()
                };
                out.total += metrics;
                if end <= region_end {
                    out.captured += metrics;
                } else {
                    out.miss(events.stacks.get(events.stack(event)));
                }
            }
        }
        out.total.operators -= 1;
        out.total.fusions = out.total.operators - 1;
        out.captured.fusions = out.captured.operators - out.captured.graphs;
        out.unique_graphs = graphs.into_iter().collect::<Option<Vec<NameId>>>().map(|graphs| graphs.len());
        out
    }

    /// Adds the line of a missed operator, unless it has no frames of the program itself.
    fn miss(&mut self, stack: &[String]) {
        if stack.iter().any(|frame| frame.contains("/torch/autograd/profiler.py")) {
            return;
        }
        let is_own =
            |frame: &&String| !frame.contains("<built-in") && !frame.contains("site-packages/torch/");
        let frames: Vec<&str> = stack.iter().filter(is_own).map(String::as_str).collect();
        let line = format!("MISSING {}", frames[frames.len().saturating_sub(SHOWN_FRAMES)..].join(" >> "));
        if !frames.is_empty() && !self.missing.contains(&line) {
            self.missing.push(line);
        }
    }

    /// Returns the captured shares of operators, time and fusions. A divisor below 1, in microseconds or operators,
    /// counts as 1.
    pub fn percent(&self) -> [f64; 3] {
        let part = |a: f64, b: f64| a / b.max(1.0);
        let us = |metrics: ProfileMetrics| metrics.time_ns as f64 / 1e3;
        [
            part(self.captured.operators as f64, self.total.operators as f64),
            part(us(self.captured), us(self.total)),
            part(self.captured.fusions as f64, self.total.fusions as f64),
        ]
    }

    /// Returns the captured shares of operators and time.
    pub(super) fn shares(&self) -> Percent {
        let [operators, time, _] = self.percent();
        Percent { operators: Some(operators), time: Some(time), device_time: None }
    }

    /// Returns the values of Dynamo's CSV: graphs, graph calls, captured operators, all operators, and the captured
    /// shares of operators and time. The first is not a number if the trace does not show how many graphs there were.
    pub fn to_csv(&self) -> [f64; 6] {
        let [operators, time, _] = self.percent();
        let count = |number: i64| number as f64;
        let (captured, total) = (self.captured, self.total);
        let calls = count(captured.graphs);
        let graphs = self.unique_graphs.map_or(f64::NAN, |graphs| graphs as f64);
        [graphs, calls, count(captured.operators), count(total.operators), operators, time]
    }
}

impl fmt::Display for ProfileResult {
    /// Writes the line that Dynamo prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [operators, time, _] = self.percent();
        let (captured, total) = (self.captured, self.total);
        match self.unique_graphs {
            Some(graphs) => write!(f, "{graphs:2}")?,
            None => write!(f, " ?")?,
        }
        write!(
            f,
            " graphs {:2} graph calls {:4}/{:4} = {:3.0}% ops {:3.0}% time",
            captured.graphs,
            captured.operators,
            total.operators,
            operators * 100.0,
            time * 100.0
        )
    }
}

impl AddAssign<&ProfileResult> for ProfileResult {
    fn add_assign(&mut self, other: &ProfileResult) {
        self.captured += other.captured;
        self.total += other.total;
        self.unique_graphs = self.unique_graphs.zip(other.unique_graphs).map(|(a, b)| a + b);
        for line in &other.missing {
            if !self.missing.contains(line) {
                self.missing.push(line.clone());
            }
        }
    }
}
