//! Device work grouped by name.

use super::attributes::{annotation, copy_name, occupancy_limit};
use super::device_time::{Class, Classes};
use crate::analysis::flops::{self, Inputs};
use crate::demangle::demangled;
use crate::index::Index;
use crate::link::Links;
use crate::names::Names;
use crate::order::{descending, sort_by_key};
use crate::rows::{Cell, Column, Rows};
use crate::table::events::{Row, Table};
use crate::table::layout::Key;
use crate::trace::Trace;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// All activities with the same name and class.
#[derive(Clone, Debug)]
pub struct KernelGroup {
    /// The name, demangled.
    pub name: String,
    /// The class.
    pub class: Class,
    /// The number of activities.
    pub count: usize,
    /// The sum of durations, in ns.
    pub sum_ns: i64,
    /// The shortest duration, in ns.
    pub min_ns: i64,
    /// The longest duration, in ns.
    pub max_ns: i64,
    /// Bytes copied or set; 0 if the trace does not contain them.
    pub bytes: i64,
    /// The sum of occupancy times duration, and the sum of the durations of activities with an occupancy.
    occupancy: (f64, i64),
    /// The longest activity.
    pub longest: Row,
    /// Floating point operations of the activities for which they are known, and the sum of the durations of those, in
    /// ns.
    flops: i64,
    flops_ns: i64,
}

impl KernelGroup {
    /// Returns the occupancy in percent, weighted by duration, of the activities that have one. An occupancy of 0
    /// counts as unknown: Kineto reports it wrongly for kernels with more than 48 KiB of shared memory.
    pub fn occupancy(&self) -> Option<f64> {
        (self.occupancy.1 > 0).then(|| self.occupancy.0 / self.occupancy.1 as f64)
    }
}

/// Returns a kernel's name for a narrow column: without return type, parameters and common namespaces.
pub(crate) fn short_name(name: &str) -> String {
    let name = name.strip_prefix("void ").unwrap_or(name).replace("(anonymous namespace)::", "");
    let mut depth = 0i32;
    let mut before = ' ';
    let mut end = name.len();
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            // The parenthesis in `HtoD (Pageable -> Device)` does not start a parameter list.
            '(' if depth == 0 && !before.is_whitespace() => {
                end = at;
                break;
            }
            _ => {}
        }
        before = c;
    }
    name[..end].replace("at::native::", "").replace("cutlass::", "").replace(" >", ">")
}

/// Returns every group, the longest sum first, without floating point operations.
pub fn kernel_groups(trace: &Trace) -> Vec<KernelGroup> {
    groups(trace, |_| None)
}

/// The floating point operations of kernels, each of which is the only kernel of its operator.
struct Work<'a> {
    table: &'a Table,
    links: &'a Links,
    /// The number of kernels that each row launched.
    kernels: Vec<u32>,
    /// The results of `flops` by name and inputs of the operator.
    known: Index,
    flops: Vec<Option<i64>>,
}

impl<'a> Work<'a> {
    fn new(trace: &'a Trace) -> Self {
        let mut kernels = alloc::vec![0; trace.table.len()];
        for &(_, op) in &trace.links.op_of {
            kernels[op.index()] += 1;
        }
        let (table, links) = (&trace.table, &trace.links);
        Work { table, links, kernels, known: Index::default(), flops: Vec::new() }
    }

    fn of(&mut self, row: Row) -> Option<i64> {
        let op = self.links.op(row).filter(|&op| self.kernels[op.index()] == 1)?;
        let table = self.table;
        let text = |key| table.field(op, key).and_then(|v| v.as_json());
        let dims = text(Key::InputDims)?;
        // Equal strings of a trace are stored once, so the address identifies the text.
        let key = (i64::from(table.name_id(op).0), dims.as_ptr() as i64);
        let at = self.known.of(key, self.flops.len() as u32) as usize;
        if at == self.flops.len() {
            let inputs = Inputs::parse(Some(dims), text(Key::InputType), text(Key::ConcreteInputs));
            self.flops.push(flops::count(table.name(op), &inputs));
        }
        self.flops[at]
    }
}

/// Marks keys of names that are not in the table.
const COMPOSED: u32 = 1 << 31;

fn groups(trace: &Trace, mut work: impl FnMut(Row) -> Option<i64>) -> Vec<KernelGroup> {
    let table = &trace.table;
    let mut classes = Classes::new(table);
    let mut groups: Vec<KernelGroup> = Vec::new();
    let mut index = Index::default();
    let mut composed = Names::default();
    for row in table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row)) {
        let class = classes.of(row);
        let kind = copy_name(table, row);
        let key = kind.as_deref().map_or(table.name_id(row).0, |name| composed.intern(name).0 | COMPOSED);
        let at = index.of((i64::from(key), class as i64), groups.len() as u32) as usize;
        if at == groups.len() {
            let name = kind.unwrap_or_else(|| demangled(table.name(row)));
            groups.push(KernelGroup {
                name,
                class,
                count: 0,
                sum_ns: 0,
                min_ns: i64::MAX,
                max_ns: -1,
                bytes: 0,
                occupancy: (0.0, 0),
                longest: row,
                flops: 0,
                flops_ns: 0,
            });
        }
        let group = &mut groups[at];
        let duration = table.dur(row).max(0);
        group.count += 1;
        group.sum_ns += duration;
        group.min_ns = group.min_ns.min(duration);
        if duration > group.max_ns {
            group.max_ns = duration;
            group.longest = row;
        }
        if let Some(flops) = work(row) {
            group.flops = group.flops.saturating_add(flops);
            group.flops_ns += duration;
        }
        group.bytes = group.bytes.saturating_add(table.bytes(row, Key::MemcpyBytes));
        if let Some(percent) = table.field(row, Key::Occupancy).and_then(|v| v.as_f64()).filter(|&p| p > 0.0)
        {
            group.occupancy.0 += percent * duration as f64;
            group.occupancy.1 += duration;
        }
    }
    sort_by_key(&mut groups, |group| (descending(group.sum_ns), 0));
    groups
}

/// The columns of the answer.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("name", "", "The name of the kernel, copy or memset."),
    Column::text("short_name", "Name", "The name without namespaces and parameters."),
    Column::word("class", "Class", &Class::VOCABULARY, "compute, communication, memcpy or memset."),
    Column::int("count", "Count", "The number of times it ran."),
    Column::ns("sum_ns", "Total", "Sum of the durations."),
    Column::share("share", "Share", "The share of the sum of all device work."),
    Column::ns("mean_ns", "Mean", "Mean duration."),
    Column::ns("min_ns", "Min", "Shortest duration."),
    Column::ns("max_ns", "Max", "Longest duration."),
    Column::float("occupancy_percent", "Occupancy %", "Estimated achieved occupancy, weighted by duration.")
        .nullable(),
    Column::bytes("bytes", "Bytes", "Bytes copied or set.").nullable(),
    Column::rate("bytes_per_second", "B/s", "Bytes divided by the time.").nullable(),
    Column::rate(
        "flops_per_second",
        "FLOP/s",
        "Floating point operations divided by time, of kernels that are the only kernel of an operator with a FLOP formula.",
    )
    .nullable(),
    Column::text("op", "Launched by", "The operator that launched the longest of them.").nullable(),
    Column::text("annotation", "Annotation", "The annotation of the CUDA graph's node that ran the longest of them.").nullable(),
    Column::text("occupancy_limit", "", "What limits the occupancy of the longest of them: WARPS, REGS, SMEM, BLOCKS or BARRIERS.").nullable(),
];

/// Returns an amount per second; null if the amount or the time is 0.
fn rate(amount: i64, ns: i64) -> Cell {
    if amount > 0 && ns > 0 { Cell::Rate(amount as f64 / (ns as f64 / 1e9)) } else { Cell::Null }
}

/// Returns the groups as rows.
pub(crate) fn kernels(trace: &Trace) -> Rows {
    let mut work = Work::new(trace);
    let groups = groups(trace, |row| work.of(row));
    let total: i64 = groups.iter().map(|g| g.sum_ns).sum();
    let mut rows = Rows::new(COLUMNS);
    for group in groups {
        rows.push(vec![
            group.name.as_str().into(),
            short_name(&group.name).into(),
            group.class.as_str().into(),
            group.count.into(),
            Cell::Ns(group.sum_ns),
            Cell::Share(if total == 0 { 0.0 } else { group.sum_ns as f64 / total as f64 }),
            Cell::Ns(group.sum_ns / group.count as i64),
            Cell::Ns(group.min_ns),
            Cell::Ns(group.max_ns),
            group.occupancy().map_or(Cell::Null, Cell::Float),
            if group.bytes > 0 { Cell::Bytes(group.bytes) } else { Cell::Null },
            rate(group.bytes, group.sum_ns),
            rate(group.flops, group.flops_ns),
            trace.links.op(group.longest).map(|op| trace.table.name(op)).into(),
            annotation(&trace.table, group.longest).into(),
            occupancy_limit(&trace.table, group.longest).into(),
        ]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_kernel_has_the_flops_of_its_operator() {
        let text = br#"{"traceEvents": [
            {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":50,
                "args":{"External id":1,"Input Dims":[[2,3],[3,4]],"Input type":["float","float"]}},
            {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":7,"External id":1}},
            {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":40,"dur":24,"args":{"correlation":7,"External id":1}},
            {"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH","pid":0,"tid":7,"ts":80,"dur":2,"args":{"bytes":4000}}
        ]}"#;
        let rows = kernels(&Trace::read(text).expect("a trace")).rows;
        let at = |key: &str| COLUMNS.iter().position(|c| c.key == key).expect("a column");
        assert_eq!(rows[0][at("flops_per_second")], Cell::Rate(48.0 / 24e-6));
        assert_eq!(rows[0][at("bytes_per_second")], Cell::Null);
        assert_eq!(rows[1][at("bytes_per_second")], Cell::Rate(4000.0 / 2e-6));
        assert_eq!(rows[1][at("flops_per_second")], Cell::Null);
    }

    #[test]
    fn short_names_keep_what_distinguishes_kernels() {
        let long = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>)";
        assert_eq!(
            short_name(long),
            "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, at::detail::Array<char*, 3>>"
        );
        assert_eq!(
            short_name("void at::native::(anonymous namespace)::softmax<float>(float*)"),
            "softmax<float>"
        );
        assert_eq!(short_name("Memcpy HtoD (Pageable -> Device)"), "Memcpy HtoD (Pageable -> Device)");
        assert_eq!(short_name("ampere_sgemm_128x64_tn"), "ampere_sgemm_128x64_tn");
        assert_eq!(short_name(""), "");
    }
}
