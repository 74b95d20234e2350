//! Floating point operations and FLOP/s of each operator, and the share of time that FLOP formulas cover.
//!
//! Operators call each other, and a formula counts a complete call: the outermost operator with a formula is counted,
//! and nothing inside it. Time is device time if the trace has device work, else CPU time. An operator without a
//! formula has its own time and no number, because unknown is not 0.
//!
//! A product of single precision is computed as TF32 if a kernel's name shows tensor cores, or if it is faster than the vector
//! units can be: the trace does not have the setting.

use super::classes::Classes;
use super::models::Device;
use super::peak::{Bound, Peak, Rated};
use crate::analysis::formulas::{self, Inputs, Kind, Unit, Work};
use crate::analysis::query::options::{Opt, ROW_LIMIT, options};
use crate::analysis::query::question::Question;
use crate::analysis::query::value::ValueKind;
use crate::analysis::query::{Input, Query};
use crate::analysis::torch::function_events::{EventKind, FunctionEvent, FunctionEvents};
use crate::analysis::torch::replayed::Times;
use crate::base::error::Error;
use crate::base::names::{ByName, MoreNames, NameId};
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, Rows, columns};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::events::Table;
use crate::trace::table::fields::Value;
use crate::trace::table::layout::Key;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

options! {
    /// Options of `flops`.
    pub(crate) struct FlopsOptions {
        /// Peak figures of devices, which override the built-in ones: lines of name,fp64,fp32,tf32,fp16,bf16,fp8,fp4,int8,memory.
        pub peaks: Option<String> = Opt::new(
            "peaks",
            "FILE",
            ValueKind::File,
            "Peak figures of devices for the roofline: lines of name,fp64,fp32,tf32,fp16,bf16,fp8,fp4,int8,memory in TFLOP/s and GB/s",
        ),
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `flops`.
pub(crate) const FLOPS: Query =
    Query::new("flops", "FLOPs, FLOP/s and roofline by operator", COLUMNS, |trace, request| {
        Ok(flops(trace, &request.typed())?.into())
    })
    .examples(&["run.json --row-limit 20", "run.json --peaks my-devices.csv"])
    .options::<FlopsOptions>()
    .inputs(&[Input::TorchRules, Input::Captures])
    .questions(&[Question::Operators])
    .hint("this trace has no shapes; record with record_shapes=True");

/// Returns the floating point operations of each operator.
///
/// # Errors
/// Returns [`Error::BadOption`] if a line of the peak figures is malformed.
pub(crate) fn flops(trace: &Trace, options: &FlopsOptions) -> Result<Rows, Error> {
    let peak = Peak::find(Device::used(trace).as_ref(), options.peaks.as_deref())?;
    Ok(work_rows(trace, peak).first(options.row_limit))
}

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS:
        fn row(kind: FlopsKind, name: &str, is_counted: Option<bool>, sum: Sum, all_ns: i64) {
        let has_number = is_counted != Some(false);
        let per_second = |amount: i64, ns: i64| (has_number && ns > 0).then(|| amount as f64 / (ns as f64 / 1e9));
    } [
        Column::word("kind", "Kind", &FlopsKind::VOCABULARY, "total for the sums in the first rows, operator for the other rows.").minor() =>
            kind.as_str(),
        Column::text("name", "Name", "The operator; all, counted or not counted for the sums.") => name,
        Column::bool("counted", "Counted", "Whether there is a formula for the operator and its inputs.")
            .minor()
            .nullable() => is_counted,
        Column::int("count", "Calls", "The number of calls.").minor() => sum.count,
        Column::amount("flops", "FLOPs", "Floating point operations of the counted calls.").minor().nullable() =>
            has_number.then_some(sum.flops),
        Column::ns("time_ns", "Time", "Device time, or CPU time in a trace without device work; including callees if counted, else excluding them.") =>
            sum.time_ns,
        Column::share("share", "Share", "The share of all such time.") =>
            if all_ns > 0 { sum.time_ns as f64 / all_ns as f64 } else { 0.0 },
        Column::rate("flops_per_second", "FLOP/s", "Floating point operations divided by the time.")
            .nullable() => per_second(sum.flops, sum.time_ns),
        Column::bytes("bytes", "Bytes", "Bytes of the inputs and outputs, each once: the minimum that the calls have to read and write; null if types are unknown.")
            .minor()
            .nullable() => (has_number && sum.sized > 0).then_some(sum.bytes),
        Column::rate("bytes_per_second", "B/s", "These bytes divided by the time of their calls.").minor().nullable() =>
            per_second(sum.bytes, sum.sized_ns),
        Column::word("bound", "Bound", &Bound::VOCABULARY, "What limits most of the minimum time: compute or memory; null if the peak figures of the device or the types are unknown.")
            .nullable() => sum.rated.bound().map(Bound::as_str),
        Column::share("roofline_share", "Roofline", "The minimum time that the device needs for the operations and bytes, as a share of the time that the calls took.")
            .nullable() => sum.rated.share(),
    ]
}

words! {
    "FlopsKind"
    /// The kind of a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum FlopsKind {
        /// A sum: all operators, the counted ones, or the others.
        Total = "total",
        /// The operators of one name.
        Operator = "operator",
    }
}

/// The sums of calls.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: usize,
    flops: i64,
    time_ns: i64,
    bytes: i64,
    /// The calls whose bytes are known, and their time.
    sized: usize,
    sized_ns: i64,
    rated: Rated,
}

impl Sum {
    /// The sum of one call.
    fn of(call: &Call, peak: Peak) -> Sum {
        let (work, time_ns) = (call.work, call.time_ns);
        let uses_tf32 = peak.has_tf32() && (call.has_tensor_cores || peak.needs_tensor_cores(&work, time_ns));
        Sum {
            count: 1,
            flops: work.flops,
            time_ns,
            bytes: work.bytes.unwrap_or(0),
            sized: usize::from(work.bytes.is_some()),
            sized_ns: work.bytes.map_or(0, |_| time_ns),
            rated: Rated::of(time_ns, peak.least(&work, uses_tf32)),
        }
    }

    fn add(&mut self, other: Sum) {
        self.count += other.count;
        self.flops = self.flops.saturating_add(other.flops);
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sized += other.sized;
        self.sized_ns = self.sized_ns.saturating_add(other.sized_ns);
        self.rated.add(other.rated);
    }
}

/// A call that a formula counts.
#[derive(Clone, Copy, Debug)]
struct Call {
    work: Work,
    name: NameId,
    time_ns: i64,
    /// Whether a kernel of the call has a name that shows tensor cores.
    has_tensor_cores: bool,
}

/// The sums by name: of calls that a formula counts, and of the others.
struct Sums<'a> {
    names: MoreNames<'a>,
    counted: ByName<Sum>,
    others: ByName<Sum>,
}

/// Returns three sums (all, counted, not counted), then the operators ordered by time, the longest first; no rows if
/// the trace has no shapes.
pub(crate) fn work_rows(trace: &Trace, peak: Option<Peak>) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    let has_shapes =
        |trace: &Trace| trace.table.layouts.all().iter().any(|l| l.find(Key::InputDims).is_some());
    if !has_shapes(trace) && !trace.captures().any(has_shapes) {
        return rows;
    }
    let events = FunctionEvents::without_inputs(trace);
    let (mut sums, all) = sums(trace, &events, peak);
    sums.add_replayed(trace, peak.filter(|_| events.use_device.is_some()).unwrap_or_default());
    let mut counted = Sum::default();
    sums.counted.entries().iter().for_each(|&(_, sum)| counted.add(sum));
    let calls = counted.count + sums.others.entries().iter().map(|(_, sum)| sum.count).sum::<usize>();
    let rest =
        Sum { count: calls - counted.count, time_ns: all.saturating_sub(counted.time_ns), ..Sum::default() };
    let total = Sum { count: calls, time_ns: all, ..counted };
    let mut push = |kind: FlopsKind, name: &str, is_counted: Option<bool>, sum: Sum| {
        rows.push(row(kind, name, is_counted, sum, all));
    };
    push(FlopsKind::Total, "all", None, total);
    push(FlopsKind::Total, "counted", Some(true), counted);
    push(FlopsKind::Total, "not counted", Some(false), rest);
    let known = sums.counted.entries().iter().map(|&(name, sum)| (name, true, sum));
    let unknown = sums.others.entries().iter().map(|&(name, sum)| (name, false, sum));
    let mut order: Vec<(NameId, bool, Sum)> = known.chain(unknown.filter(|o| o.2.time_ns > 0)).collect();
    sort_by_key(&mut order, |(_, _, sum)| (descending(sum.time_ns), descending(sum.flops)));
    for (name, is_counted, sum) in order {
        push(FlopsKind::Operator, sums.names.get(name), Some(is_counted), sum);
    }
    rows
}

/// Returns the sums, and the total time of all operators, in ns.
fn sums<'a>(trace: &'a Trace, events: &FunctionEvents, peak: Option<Peak>) -> (Sums<'a>, i64) {
    let table = &trace.table;
    let has_device = events.use_device.is_some();
    let peak = peak.filter(|_| has_device).unwrap_or_default();
    let device_totals = events.device_totals_ns();
    // The call of each event that is in one, or is one.
    let mut call_of: Vec<Option<u32>> = vec![None; events.len()];
    let mut calls: Vec<Call> = Vec::new();
    let names = MoreNames::new(&table.names);
    let mut sums = Sums { names, counted: ByName::default(), others: ByName::default() };
    let mut all: i64 = 0;
    for event in events.events() {
        let self_ns = match (has_device, events.kind(event)) {
            (true, EventKind::Device) if !events.is_user_annotation(table, event) => {
                all = all.saturating_add(events.self_device_time_total_ns(event));
                continue;
            }
            (true, EventKind::Cpu) => events.self_device_time_total_ns(event),
            (false, EventKind::Cpu) => events.self_ns(event),
            _ => continue,
        };
        if !has_device {
            all = all.saturating_add(self_ns);
        }
        if let Some(call) = events.parent(event).and_then(|parent| call_of[parent.index()]) {
            call_of[event.index()] = Some(call);
            continue;
        }
        let name = table.name_id(events.row(event));
        let time_ns =
            if has_device { device_totals[event.index()] } else { events.cpu_time_total_ns(table, event) };
        // Without time on a device, a call ran on the host, or its kernels were not recorded.
        let work = if has_device && time_ns == 0 { None } else { work_of(table, events, event) };
        let Some(work) = work else {
            sums.others.entry(name).add(Sum { count: 1, time_ns: self_ns, ..Sum::default() });
            continue;
        };
        call_of[event.index()] = u32::try_from(calls.len()).ok();
        let time_ns =
            if has_device { device_totals[event.index()] } else { events.cpu_time_total_ns(table, event) };
        calls.push(Call { work, name, time_ns, has_tensor_cores: false });
    }
    let is_single = |call: &Call| call.work.unit == Unit::Matrix(Kind::Single);
    if peak.has_tf32() && calls.iter().any(is_single) {
        mark_tensor_cores(trace, events, &call_of, &mut calls);
    }
    for call in &calls {
        sums.counted.entry(call.name).add(Sum::of(call, peak));
    }
    (sums, all)
}

impl Sums<'_> {
    /// Adds the calls that graphs replay, as their captures show them.
    fn add_replayed(&mut self, trace: &Trace, peak: Peak) {
        let classes = Classes::new(trace);
        for replayed in trace.replayed() {
            let table = &replayed.trace.table;
            let (events, times) = Times::new(trace, &replayed);
            let mut uses_tensor_cores = vec![false; table.len()];
            for &(_, node, work) in &replayed.work {
                if let Some(op) = replayed.captures.nodes[node].op {
                    uses_tensor_cores[op.index()] |= classes.tensor_cores(work) == Some(true);
                }
            }
            let mut call_of: Vec<Option<u32>> = vec![None; events.len()];
            let mut calls: Vec<(Call, i64)> = Vec::new();
            for event in events.events().filter(|&event| times.counts[event.index()] > 0) {
                let (at, count) = (event.index(), times.counts[event.index()]);
                let inherited = events.parent(event).and_then(|parent| call_of[parent.index()]);
                let work = inherited.map_or_else(|| work_of(table, &events, event), |_| None);
                call_of[at] = inherited.or_else(|| work.and(u32::try_from(calls.len()).ok()));
                let name = self.names.intern(table.name(events.row(event)));
                match (call_of[at], work) {
                    (_, Some(work)) => {
                        let call =
                            Call { work, name, time_ns: times.total_ns[at] / count, has_tensor_cores: false };
                        calls.push((call, count));
                    }
                    (None, None) => self.others.entry(name).add(Sum {
                        count: count as usize,
                        time_ns: times.own_ns[at],
                        ..Sum::default()
                    }),
                    _ => {}
                }
                if let Some(call) = call_of[at] {
                    calls[call as usize].0.has_tensor_cores |= uses_tensor_cores[events.row(event).index()];
                }
            }
            for (call, count) in calls {
                let sum = Sum::of(&call, peak);
                (0..count).for_each(|_| self.counted.entry(call.name).add(sum));
            }
        }
    }
}

/// Marks the calls with a kernel whose name shows tensor cores.
fn mark_tensor_cores(trace: &Trace, events: &FunctionEvents, call_of: &[Option<u32>], calls: &mut [Call]) {
    let classes = Classes::new(trace);
    let mut is_operator = vec![false; trace.table.len()];
    for &(kernel, operator) in &trace.links.op_of {
        is_operator[operator.index()] |= classes.tensor_cores(kernel) == Some(true);
    }
    for event in events.events().filter(|&event| is_operator[events.row(event).index()]) {
        if let Some(call) = call_of[event.index()] {
            calls[call as usize].has_tensor_cores = true;
        }
    }
}

/// Returns the work of a call; `None` if no formula counts it.
fn work_of(table: &Table, events: &FunctionEvents, event: FunctionEvent) -> Option<Work> {
    let row = events.row(event);
    let text = |key| table.field(row, key).and_then(|v: Value<'_>| v.as_json());
    let dims = text(Key::InputDims)?;
    let inputs = Inputs::parse(Some(dims), text(Key::InputType), text(Key::ConcreteInputs));
    formulas::work(events.name(event), &inputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows::Cell;

    const TRACE: &[u8] = br#"{"traceEvents": [
        {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":0,"dur":50,
            "args":{"External id":1,"Input Dims":[[2,3],[4,3],[4]],"Input type":["float","float","float"],"Concrete Inputs":["","",""]}},
        {"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":1,"tid":1,"ts":10,"dur":30,
            "args":{"External id":2,"Input Dims":[[4],[2,3],[3,4]],"Input type":["float","float","float"]}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":20,"dur":5,"args":{"correlation":7,"External id":2}},
        {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":40,"dur":60,"args":{"correlation":7,"External id":2}},
        {"ph":"X","cat":"cpu_op","name":"aten::nonzero","pid":1,"tid":1,"ts":60,"dur":20,
            "args":{"External id":3,"Input Dims":[[2,4]],"Input type":["float"]}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":65,"dur":5,"args":{"correlation":8,"External id":3}},
        {"ph":"X","cat":"kernel","name":"relu","pid":0,"tid":7,"ts":100,"dur":20,"args":{"correlation":8,"External id":3}}
    ]}"#;

    #[test]
    fn nested_calls_are_counted_once_and_unknown_is_not_zero() {
        let rows = work_rows(&Trace::read(TRACE).expect("a trace"), None).rows;
        let line = |at: usize| (rows[at][1].clone(), rows[at][4].clone(), rows[at][5].clone());
        let flops = 2 * 2 * 3 * 4;
        assert_eq!(line(0), ("all".into(), Cell::Amount(flops), Cell::Ns(80_000)));
        assert_eq!(line(1), ("counted".into(), Cell::Amount(flops), Cell::Ns(60_000)));
        assert_eq!(rows[1][6], Cell::Share(0.75));
        assert_eq!(line(2), ("not counted".into(), Cell::Null, Cell::Ns(20_000)));
        assert_eq!(line(3), ("aten::linear".into(), Cell::Amount(flops), Cell::Ns(60_000)));
        assert_eq!(rows[3][7], Cell::Rate(flops as f64 / 60e-6));
        assert_eq!(line(4), ("aten::nonzero".into(), Cell::Null, Cell::Ns(20_000)));
        assert_eq!(rows.len(), 5);
    }

    #[test]
    fn roofline_bound_is_the_larger_of_compute_and_memory() {
        let peak = Peak { flops: [0.0, 1e9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], memory: 4e9 };
        let rows = work_rows(&Trace::read(TRACE).expect("a trace"), Some(peak)).rows;
        // 48 operations at 1 GFLOP/s take 48 ns, 22 + 8 floats at 4 GB/s take 30 ns; the call took 60 us.
        assert_eq!(rows[3][8], Cell::Bytes(120));
        assert_eq!(rows[3][10], "compute".into());
        assert_eq!(rows[3][11], Cell::Share(48.0 / 60_000.0));
        let slow = Peak { memory: 1e9, ..peak };
        assert_eq!(work_rows(&Trace::read(TRACE).expect("a trace"), Some(slow)).rows[3][10], "memory".into());
    }

    #[test]
    fn cpu_time_is_used_without_device_work() {
        let text = String::from_utf8_lossy(TRACE).replace("kernel", "python_function");
        let rows = work_rows(&Trace::read(text.as_bytes()).expect("a trace"), None).rows;
        assert_eq!(rows[3][1], "aten::linear".into());
        assert_eq!(rows[3][5], Cell::Ns(50_000));
        assert!(
            work_rows(&Trace::read(b"[{\"ph\":\"X\",\"ts\":1,\"dur\":1}]").expect("a trace"), None)
                .rows
                .is_empty()
        );
    }
}
