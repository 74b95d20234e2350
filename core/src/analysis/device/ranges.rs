//! Which ranges of the host are steps, operators, or those of a data loader.

use super::names::is_data_loading;
use crate::analysis::context::Analysis;
use crate::base::names::{NameId, NameSet, Names};
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::iterations::Iterations;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use alloc::vec::Vec;

/// Which ranges of the host are operators, and which are about loading data.
pub(crate) struct Ranges {
    steps: NameSet,
    loading: NameSet,
}

impl Ranges {
    pub(crate) fn new(names: &Names) -> Ranges {
        Ranges {
            steps: names.that(|name| name.starts_with("ProfilerStep#")),
            loading: names.that(is_data_loading),
        }
    }

    /// Whether a range is an operator. PyTorch's first traces have steps among them.
    pub(crate) fn is_operator(&self, table: &Table, row: Row) -> bool {
        table.category(row) == Category::CpuOp && !self.steps.has(table.name_id(row))
    }

    /// Whether a range is that of a data loader.
    pub(crate) fn is_loading(&self, table: &Table, row: Row) -> bool {
        self.loading.has(table.name_id(row))
            && matches!(table.category(row), Category::CpuOp | Category::UserAnnotation)
    }
}

/// Returns the ranges that are steps with their numbers, ordered by time: those that the user chose, else profiler steps, else
/// the iterations of an inference engine.
pub(crate) fn step_ranges(trace: &Trace) -> Vec<(Row, i64)> {
    profiler_steps(trace).unwrap_or_else(|| Iterations::new(trace).numbered(&trace.table))
}

impl Analysis<'_> {
    /// Returns the iterations of an inference engine.
    pub(crate) fn iterations(&self) -> &Iterations {
        self.once(|| Iterations::new(self.trace))
    }

    /// Returns the steps, to find those of events.
    pub(crate) fn step_finder(&self) -> &StepFinder {
        self.once(|| {
            let table = &self.trace.table;
            match profiler_steps(self.trace) {
                Some(steps) => StepFinder::new(table, steps, true),
                None => StepFinder::new(table, self.iterations().numbered(table), false),
            }
        })
    }

    /// Whether the steps are profiler steps.
    pub(crate) fn has_profiler_steps(&self) -> bool {
        self.step_finder().are_profiled
    }

    /// Whether steps do the same work as far as their names show it: profiler steps, or iterations of one phase, with the same
    /// requests and tokens.
    pub(crate) fn steps_are_alike(&self) -> bool {
        let are_like = || self.iterations().0.windows(2).all(|pair| pair[0].name.is_like(&pair[1].name));
        self.has_profiler_steps() || are_like()
    }
}

/// Returns the names of the ranges that are steps.
pub(crate) fn step_names(trace: &Trace) -> NameSet {
    let table = &trace.table;
    table.names.among(step_ranges(trace).into_iter().map(|(row, _)| table.name_id(row)), |_| true)
}

/// Returns the profiler steps with their numbers, ordered by time; `None` if there are none, or the user chose other steps.
fn profiler_steps(trace: &Trace) -> Option<Vec<(Row, i64)>> {
    if trace.step_rules.are_chosen() {
        return None;
    }
    let table = &trace.table;
    let number = |name: &str| name.strip_prefix("ProfilerStep#")?.trim().parse().ok();
    let names = table.names.that(|name| number(name).is_some());
    let is_step = |row: &Row| {
        names.has(table.name_id(*row))
            && matches!(table.category(*row), Category::UserAnnotation | Category::CpuOp)
            && table.is_span(*row)
    };
    let rows = table.rows().filter(is_step);
    let mut steps: Vec<(Row, i64)> = rows.filter_map(|row| Some((row, number(table.name(row))?))).collect();
    sort_by_key(&mut steps, |&(row, _)| (table.ts(row), i64::from(row)));
    Some(steps).filter(|steps| !steps.is_empty())
}

/// The steps of a trace, to find that of an event. If several processes have steps, those of a process are its own.
#[derive(Clone, Debug)]
pub(crate) struct StepFinder {
    /// The annotations that are steps with their numbers, ordered by time.
    pub(crate) steps: Vec<(Row, i64)>,
    are_profiled: bool,
    /// Whether the steps are copies of ranges on streams.
    are_copies: bool,
    /// By process: indexes of its steps, in order of time.
    pub(super) processes: Vec<(NameId, Vec<usize>)>,
}

impl StepFinder {
    /// Finds steps among these, which are ordered by time.
    fn new(table: &Table, steps: Vec<(Row, i64)>, are_profiled: bool) -> StepFinder {
        let mut order: Vec<(NameId, usize)> =
            steps.iter().enumerate().map(|(at, &(row, _))| (table.track(row).pid, at)).collect();
        sort_by_key(&mut order, |&(pid, at)| (i64::from(pid.0), at as i64));
        let processes = order.chunk_by(|a, b| a.0 == b.0);
        let processes =
            processes.map(|chunk| (chunk[0].0, chunk.iter().map(|step| step.1).collect())).collect();
        let is_copy = |step: &(Row, i64)| table.category(step.0) == Category::GpuUserAnnotation;
        let are_copies = steps.first().is_some_and(is_copy);
        StepFinder { steps, are_profiled, are_copies, processes }
    }

    /// The steps of the processes that launch these activities of a device; all if it is not known which do.
    pub(crate) fn on_device(&self, trace: &Trace, activities: &[Row]) -> Vec<Row> {
        let all = || self.steps.iter().map(|step| step.0);
        if self.processes.len() < 2 {
            return all().collect();
        }
        let mut pids: Vec<NameId> = Vec::new();
        for launch in activities.iter().filter_map(|&row| trace.links.launch(row)) {
            let pid = trace.table.track(launch).pid;
            if pids.last() != Some(&pid) && !pids.contains(&pid) {
                pids.push(pid);
            }
        }
        let process_rows: Vec<Row> =
            all().filter(|&row| pids.contains(&trace.table.track(row).pid)).collect();
        if process_rows.is_empty() { all().collect() } else { process_rows }
    }

    /// The last step that began at or before the start of an event, if it lies within it. Device work starts with its launch, unless
    /// the steps are copies of ranges on streams.
    /// `None` as well if several processes have steps, and the event is of none of them.
    pub(crate) fn find(&self, trace: &Trace, row: Row) -> Option<usize> {
        let table = &trace.table;
        let is_work = table.category(row).is_device_work();
        let launch = if is_work && !self.are_copies { trace.links.launch(row) } else { None };
        let from = launch.unwrap_or(row);
        let indices = match &self.processes[..] {
            [only] => &only.1,
            all => {
                let at = all.binary_search_by_key(&table.track(from).pid, |process| process.0).ok()?;
                &all[at].1
            }
        };
        let instant = table.ts(from);
        let after = indices.partition_point(|&at| table.ts(self.steps[at].0) <= instant);
        indices[..after].last().copied().filter(|&at| instant < table.end(self.steps[at].0))
    }

    /// The number of that step.
    pub(crate) fn number(&self, trace: &Trace, row: Row) -> Option<i64> {
        self.find(trace, row).map(|at| self.steps[at].1)
    }
}
