//! Device work grouped by name.

use super::device_time::{Class, Classes, copied_bytes};
use super::function_events::demangle;
use crate::index::Index;
use crate::order::{descending, sort_by_key};
use crate::rows::{Cell, Column, Rows};
use crate::table::events::Row;
use crate::table::layout::Key;
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// All activities of one name and class.
#[derive(Clone, Debug)]
pub struct KernelGroup {
    /// The name, demangled.
    pub name: String,
    /// The class.
    pub class: Class,
    /// How many.
    pub count: usize,
    /// Sum of durations, in ns.
    pub sum_ns: i64,
    /// Shortest, in ns.
    pub min_ns: i64,
    /// Longest, in ns.
    pub max_ns: i64,
    /// Bytes copied or filled, where the trace gives them.
    pub bytes: i64,
    /// Sum of occupancy times duration, and the duration that had one.
    occupancy: (f64, i64),
    /// The operator that the longest of them was done for.
    pub op: Option<Row>,
}

impl KernelGroup {
    /// Occupancy in percent, weighted by time, of the activities that have one. 0 with more than 48 KiB of shared memory
    /// is the writer's fault and counts as unknown.
    pub fn occupancy(&self) -> Option<f64> {
        (self.occupancy.1 > 0).then(|| self.occupancy.0 / self.occupancy.1 as f64)
    }
}

/// A kernel's name for a narrow column: without return type, parameters and the namespaces that most kernels share.
pub fn short_name(name: &str) -> String {
    let name = name.strip_prefix("void ").unwrap_or(name).replace("(anonymous namespace)::", "");
    let mut depth = 0i32;
    let mut before = ' ';
    let mut end = name.len();
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            // A copy's `HtoD (Pageable -> Device)` is no list of parameters.
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

/// Every group, longest sum first.
pub fn kernel_groups(trace: &Trace) -> Vec<KernelGroup> {
    let table = &trace.table;
    let mut classes = Classes::new(table);
    let mut groups: Vec<KernelGroup> = Vec::new();
    let mut index = Index::default();
    for row in table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row)) {
        let class = classes.of(row);
        let key = (i64::from(table.name_id(row).0), class as i64);
        let at = index.of(key, groups.len() as u32) as usize;
        if at == groups.len() {
            let name = demangle(table.name(row)).unwrap_or_else(|| table.name(row).to_owned());
            groups.push(KernelGroup {
                name,
                class,
                count: 0,
                sum_ns: 0,
                min_ns: i64::MAX,
                max_ns: -1,
                bytes: 0,
                occupancy: (0.0, 0),
                op: None,
            });
        }
        let group = &mut groups[at];
        let duration = table.dur(row).max(0);
        group.count += 1;
        group.sum_ns += duration;
        group.min_ns = group.min_ns.min(duration);
        if duration > group.max_ns {
            group.max_ns = duration;
            group.op = trace.links.op(row);
        }
        group.bytes = group.bytes.saturating_add(copied_bytes(table, row).unwrap_or(0));
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
pub const COLUMNS: &[Column] = &[
    Column::text("name", "", "The kernel's, copy's or fill's name."),
    Column::text("short_name", "Name", "The name without namespaces and parameters."),
    Column::text("class", "Class", "compute, communication, memcpy or memset."),
    Column::int("count", "Count", "How often it ran."),
    Column::ns("sum_ns", "Total", "Sum of the durations."),
    Column::share("share", "Share", "The part of the sum of all device work."),
    Column::ns("mean_ns", "Mean", "Mean duration."),
    Column::ns("min_ns", "Min", "Shortest duration."),
    Column::ns("max_ns", "Max", "Longest duration."),
    Column::float("occupancy_percent", "Occupancy %", "Estimated achieved occupancy, weighted by duration.")
        .or_null(),
    Column::bytes("bytes", "Bytes", "Bytes copied or filled.").or_null(),
    Column::text("op", "Launched by", "The operator that the longest of them was done for.").or_null(),
];

/// The groups as rows.
pub fn kernels(trace: &Trace) -> Rows {
    let groups = kernel_groups(trace);
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
            group.op.map(|op| trace.table.name(op)).into(),
        ]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn short_names_keep_what_tells_kernels_apart() {
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
