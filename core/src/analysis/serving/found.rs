//! The iterations of a trace: those that ranges name, else profiler steps, else those that launches show.

use super::energy::Power;
use super::inferred::infer;
use super::parts::PARTS;
use super::served::{Measured, Served};
use super::steady::mark_warm_up;
use crate::analysis::context::Analysis;
use crate::analysis::device::kernel_limits::Limits;
use crate::analysis::intervals::Interval;
use crate::base::order::sort_by_key;
use crate::trace::step_rules::StepName;
use crate::trace::table::events::Row;
use alloc::vec::Vec;

impl Analysis<'_> {
    /// Returns the iterations of the trace.
    pub(crate) fn serving(&self) -> &Serving {
        self.once(|| Serving::new(self))
    }
}

/// The iterations of a trace.
pub(crate) struct Serving {
    /// Those of each process in order of time.
    pub(crate) served: Vec<Served>,
    /// The share of them whose launches repeat, if no range names them.
    pub(crate) inferred: Option<f64>,
    /// The time between readings of the power of devices, in ns.
    pub(crate) reading_ns: Option<i64>,
}

impl Serving {
    fn new(analysis: &Analysis<'_>) -> Serving {
        let table = &analysis.trace.table;
        let time = |row: Row| (table.ts(row), table.end(row));
        let iterations = analysis.iterations();
        let named = iterations.0.iter().zip(iterations.numbered(table));
        let named: Vec<Served> =
            named.map(|(one, (row, number))| begun(row, time(row), one.name.clone(), number)).collect();
        if !named.is_empty() || analysis.trace.step_rules.are_chosen() {
            return Serving::measured(analysis, named, None);
        }
        // Without iterations, the steps of a trace are profiler steps.
        let steps = analysis.step_finder().steps.iter();
        let step = |&(row, number): &(Row, i64)| {
            begun(row, time(row), StepName::new(None, None, None, None), number)
        };
        let steps: Vec<Served> = steps.map(step).collect();
        if steps.len() > 1 {
            return Serving::measured(analysis, steps, None);
        }
        let Some(inferred) = infer(analysis) else { return Serving::measured(analysis, Vec::new(), None) };
        let numbered = (1..).zip(inferred.iterations);
        let begun = numbered.map(|(number, (row, time, name))| begun(row, time, name, number)).collect();
        Serving::measured(analysis, begun, Some(inferred.confidence))
    }

    /// Measures iterations, which are ordered by time.
    fn measured(analysis: &Analysis<'_>, begun: Vec<Served>, inferred: Option<f64>) -> Serving {
        let table = &analysis.trace.table;
        let mut served = measured(analysis, begun);
        // Which process works on which device is not known.
        let is_one = served.iter().all(|one| table.track(one.row).pid == table.track(served[0].row).pid);
        let power = Power::new(analysis).filter(|_| is_one && !served.is_empty());
        for one in &mut served {
            let time = (one.time.0 - analysis.trace.start_ns, one.time.1 - analysis.trace.start_ns);
            one.joules = power.as_ref().and_then(|power| power.joules(time));
        }
        Serving { served, inferred, reading_ns: power.map(|power| power.interval_ns) }
    }
}

/// Measures iterations, which are ordered by time.
fn measured(analysis: &Analysis<'_>, mut all: Vec<Served>) -> Vec<Served> {
    let table = &analysis.trace.table;
    if all.is_empty() {
        return all;
    }
    let pid = |one: &Served| table.track(one.row).pid;
    // The sort is stable, and the iterations are ordered by time.
    sort_by_key(&mut all, |one| (i64::from(pid(one).0), 0));
    let is_only = all.iter().all(|one| pid(one) == pid(&all[0]));
    let mut by = Measured::new(analysis, all[0].row);
    for process in all.chunk_by_mut(|a, b| pid(a) == pid(b)) {
        let own = pid(&process[0]);
        by.measure(process, Some(own).filter(|_| !is_only));
        mark_warm_up(process);
    }
    all
}

fn begun(row: Row, host: Interval, name: StepName, number: i64) -> Served {
    Served {
        row,
        number,
        name,
        host,
        time: host,
        parts_ns: [0; PARTS],
        activities: 0,
        device_sum_ns: 0,
        graphs: 0,
        graph_calls_ns: 0,
        limits: Limits::default(),
        joules: None,
        is_warm_up: false,
    }
}
