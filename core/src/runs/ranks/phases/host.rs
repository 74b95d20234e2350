//! The phases of the host.

use super::{Phase, Phases, painted};
use crate::analysis::device::names::{is_data_loading, is_host_collective};
use crate::analysis::device::ranges::step_names;
use crate::analysis::intervals::{Collector, Interval, Intervals};
use crate::base::names::NameSet;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::Table;
use crate::trace::table::tracks::TrackId;
use alloc::vec;
use alloc::vec::Vec;

/// The names that show a phase.
struct Meaning {
    steps: NameSet,
    /// The ranges that PyTorch itself records.
    ranges: NameSet,
    optimizer: NameSet,
    backward: NameSet,
    loading: NameSet,
    forward: NameSet,
    communication: NameSet,
}

impl Meaning {
    fn new(trace: &Trace) -> Meaning {
        let names = &trace.table.names;
        let has = |part: &'static str| {
            names.that(move |name| {
                name.to_ascii_lowercase().contains(part) && !name.contains("evaluate_function")
            })
        };
        Meaning {
            steps: step_names(trace),
            ranges: names.that(|name| {
                is_data_loading(name)
                    || name.starts_with("Optimizer.")
                    || name.starts_with("DistributedDataParallel.")
            }),
            optimizer: has("optimizer"),
            backward: names.that(|name| {
                name.starts_with("autograd::engine::evaluate_function: ")
                    || name.to_ascii_lowercase().contains("backward")
            }),
            loading: names.that(|name| {
                is_data_loading(name) || {
                    let name = name.to_ascii_lowercase();
                    name.contains("dataload") || name.contains("data_load") || name.contains("data load")
                }
            }),
            forward: has("forward"),
            communication: names.that(|name| {
                name.starts_with("c10d::") || name.starts_with("nccl:") || name == "record_param_comms"
            }),
        }
    }
}

/// The times of the host by what shows their phase.
#[derive(Default)]
struct Times {
    operators: Collector,
    optimizer: Collector,
    backward: Collector,
    loading: Collector,
    forward: Collector,
    communication: Collector,
    /// When a range begins or ends that is no operator.
    edges: Vec<i64>,
}

/// Returns the phases of the host.
pub(super) fn phases(trace: &Trace, in_flight: &[Interval]) -> Phases {
    let table = &trace.table;
    let meaning = Meaning::new(trace);
    let is_program = threads(table, &meaning);
    let collectives = table.names.that(is_host_collective);
    let mut times = Times::default();
    for row in table.rows().filter(|&row| table.is_span(row)) {
        let name = table.name_id(row);
        if !is_program[table.track_id(row).0 as usize] || meaning.steps.has(name) || collectives.has(name) {
            continue;
        }
        let period = (table.ts(row), table.end(row));
        let category = table.category(row);
        // Old traces have the ranges of PyTorch itself as operators.
        let is_range =
            category == Category::UserAnnotation || (category == Category::CpuOp && meaning.ranges.has(name));
        match category {
            _ if is_range => times.edges.extend([period.0, period.1]),
            Category::CpuOp => times.operators.push(period),
            Category::PythonFunction => {
                times.edges.extend([period.0, period.1]);
                continue;
            }
            _ => continue,
        }
        if meaning.communication.has(name) {
            times.communication.push(period);
        } else if meaning.optimizer.has(name) && is_range {
            times.optimizer.push(period);
        } else if meaning.backward.has(name) {
            times.backward.push(period);
        } else if meaning.loading.has(name) && is_range {
            times.loading.push(period);
        } else if meaning.forward.has(name) && is_range {
            times.forward.push(period);
        }
    }
    from_times(times, in_flight)
}

/// The threads of the program.
pub(crate) fn program_threads(trace: &Trace) -> Vec<bool> {
    threads(&trace.table, &Meaning::new(trace))
}

/// The threads of the program: those with steps, calls of collectives or backward functions; else the one with the most
/// operators. Threads that only help a data loader or a backend are left out.
fn threads(table: &Table, meaning: &Meaning) -> Vec<bool> {
    let tracks = table.tracks.all().len();
    let (mut operators, mut is_program) = (vec![0u32; tracks], vec![false; tracks]);
    for row in table.rows().filter(|&row| table.is_span(row)) {
        let (name, track) = (table.name_id(row), table.track_id(row).0 as usize);
        let category = table.category(row);
        let is_operator = category == Category::CpuOp;
        operators[track] += u32::from(is_operator);
        let is_annotation = category == Category::UserAnnotation;
        is_program[track] |= (meaning.steps.has(name) && (is_operator || is_annotation))
            || (is_operator && (meaning.communication.has(name) || meaning.backward.has(name)));
    }
    let most = (0..tracks).max_by_key(|&track| (operators[track], core::cmp::Reverse(track)));
    if let Some(most) = most {
        is_program[most] = true;
    }
    is_program.iter().enumerate().map(|(track, &is)| is && !on_device(table, track)).collect()
}

fn on_device(table: &Table, track: usize) -> bool {
    table.tracks.get(TrackId(track as u32)).on_device
}

fn from_times(times: Times, in_flight: &[Interval]) -> Phases {
    let Times { operators, optimizer, backward, loading, forward, communication, mut edges } = times;
    let [operators, optimizer, backward, loading, forward, communication] =
        [operators, optimizer, backward, loading, forward, communication].map(Collector::union);
    sort_by_key(&mut edges, |&edge| (edge, 0));
    let waits = waits(&operators, &edges, in_flight);
    let working = |range: &Intervals| range.intersection(&operators);
    let layers = [
        (communication, Phase::Communication),
        (working(&optimizer), Phase::Optimizer),
        (working(&backward), Phase::Backward),
        (working(&loading), Phase::DataLoading),
        (operators, Phase::Forward),
        (waits, Phase::Communication),
        (optimizer, Phase::Optimizer),
        (backward, Phase::Backward),
        (loading, Phase::DataLoading),
        (forward, Phase::Forward),
    ];
    Phases(filled(painted(&layers)))
}

/// How much later than the thread that waited for it the span of a collective may end, in ns.
const LATE: i64 = 200_000;

/// The times in which the program waited for a collective: it ran no operator, entered and left no range, and a
/// collective ended then.
fn waits(operators: &Intervals, edges: &[i64], in_flight: &[Interval]) -> Intervals {
    let mut ends = in_flight.to_vec();
    sort_by_key(&mut ends, |period| (period.1, period.0));
    let (Some(first), Some(last)) = (in_flight.iter().map(|p| p.0).min(), ends.last().map(|p| p.1)) else {
        return Intervals::default();
    };
    let mut waits = Vec::new();
    for gap in operators.gaps((first, last)) {
        let from = edges.partition_point(|&edge| edge <= gap.0);
        let until = edges.partition_point(|&edge| edge < gap.1);
        let mut start = gap.0;
        for end in edges[from..until.max(from)].iter().copied().chain([gap.1]) {
            wait(&ends, (start, end), &mut waits);
            start = end;
        }
    }
    Intervals::union_of(waits)
}

/// Adds the part of a quiet period until the last collective that ended in it.
fn wait(ends: &[Interval], quiet: Interval, waits: &mut Vec<Interval>) {
    let first = ends.partition_point(|period| period.1 <= quiet.0);
    let ended = ends[first..].iter().take_while(|period| period.1 <= quiet.1.saturating_add(LATE));
    for &(start, end) in ended.filter(|period| period.0 < quiet.1) {
        waits.push((start.max(quiet.0), end.min(quiet.1)));
    }
}

/// Closes the gaps between two parts of one phase. A time between two batches or two collectives is not known to be about
/// them.
fn filled(parts: Vec<(Interval, Phase)>) -> Vec<(Interval, Phase)> {
    let mut out: Vec<(Interval, Phase)> = Vec::with_capacity(parts.len());
    for (period, phase) in parts {
        match out.last_mut() {
            Some(last) if last.1 == phase && !matches!(phase, Phase::DataLoading | Phase::Communication) => {
                last.0.1 = period.1;
            }
            _ => out.push((period, phase)),
        }
    }
    out
}
