//! The groups of device work as rows.

use super::attributes::{annotation, occupancy_limit};
use super::classes::Class;
use super::kernel_keys::KernelsBy;
use super::kernel_work::KernelWork;
use super::kernels::{KernelGroup, groups};
use crate::analysis::context::Analysis;
use crate::analysis::query::options::{Opt, ROW_LIMIT, options};
use crate::analysis::query::question::Question;
use crate::analysis::query::{Input, Query};
use crate::analysis::torch::source::{SourceBy, Sources};
use crate::base::rows::{Column, Rows, columns};
use crate::trace::Trace;
use crate::trace::kernel_rules::KernelCategory;

options! {
    /// Options of `kernels`.
    pub struct KernelsOptions {
        /// What the rows are.
        pub by: KernelsBy =
            Opt::word::<KernelsBy>("by", "WHAT", "What the rows are; `shape` is the name with the inputs"),
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `kernels`.
pub const KERNELS: Query =
    Query::new("kernels", "Kernels, memcpys and memsets by time", COLUMNS, |trace, request| {
        Ok(kernels(trace, &request.typed()).into())
    })
    .examples(&["run.json --row-limit 20", "run.json --by category --format csv -o kernels.csv"])
    .options::<KernelsOptions>()
    .inputs(&[Input::KernelRules, Input::Captures, Input::Provenance])
    .questions(&[Question::DeviceTime])
    .hint("no device work in this trace; record with ProfilerActivity.CUDA");

/// Returns kernels, memcpys and memsets, or groups of them, ordered by time.
pub fn kernels(trace: &Trace, options: &KernelsOptions) -> Rows {
    kernel_rows(trace, options.by).first(options.row_limit)
}

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(trace: &Trace, sources: &Sources<'_>, group: &KernelGroup, total_ns: i64) {
        let source = sources.of(group.longest);
    } [
        Column::text("name", "", "The name of the kernel, copy or memset, or the text of the group.") =>
            group.name.as_str(),
        Column::text("short_name", "Name", "The name without namespaces and parameters.") =>
            group.short_name.as_str(),
        Column::word("class", "Class", &Class::VOCABULARY, "compute, communication, memcpy or memset; null for a group of several.")
            .minor()
            .nullable() => group.only_class().map(Class::as_str),
        Column::word("category", "Category", &KernelCategory::VOCABULARY, "What it does, by the rules for names; null for a group of several.")
            .nullable() => group.only_category().map(KernelCategory::as_str),
        Column::int("count", "Count", "The number of times it ran.") => group.count,
        Column::ns("sum_ns", "Total", "Sum of the durations.") => group.sum_ns,
        Column::share("share", "Share", "The share of the sum of all device work.") =>
            share(group.sum_ns, total_ns),
        Column::ns("mean_ns", "Mean", "Mean duration.") => group.sum_ns / group.count as i64,
        Column::ns("min_ns", "Min", "Shortest duration.") => group.min_ns,
        Column::ns("max_ns", "Max", "Longest duration.") => group.max_ns,
        Column::ns("std_ns", "", "Sample standard deviation of the durations; null for one.").nullable() =>
            group.std_ns().map(|ns| libm::round(ns) as i64),
        Column::bool("tensor_cores", "", "Whether one of its kernels uses tensor cores, by its name or because it is faster than other units can be; null if neither shows it.")
            .nullable() => group.uses_tensor_cores(),
        Column::share("tensor_core_share", "Tensor cores", "The share of its time in kernels that use tensor cores; null if it is unknown for most of the time.")
            .nullable() => group.tensor_core_share(),
        Column::float("occupancy_percent", "Occupancy %", "Estimated achieved occupancy, weighted by duration.")
            .nullable() => group.occupancy(),
        Column::float("blocks_per_sm", "Blocks/SM", "Thread blocks for each SM, weighted by duration.")
            .nullable() => group.blocks_per_sm(),
        Column::share("sm_share", "", "Estimated share of SMs with a block: the mean of min(1, blocks per SM), weighted by duration.")
            .nullable() => group.sm_share(),
        Column::bytes("bytes", "Bytes", "Bytes copied or set.").nullable() =>
            (group.bytes > 0).then_some(group.bytes),
        Column::rate("bytes_per_second", "B/s", "Bytes divided by the time.").nullable() =>
            rate(group.bytes, group.sum_ns),
        Column::rate("flops_per_second", "FLOP/s", "Floating point operations divided by time, of kernels that are the only kernel of an operator with a FLOP formula.")
            .nullable() => rate(group.flops, group.flops_ns),
        Column::text("op", "Launched by", "The operator that launched the longest of them.").nullable() =>
            trace.operator_name(group.longest),
        Column::text("source", "Source", "Where the longest of them comes from: FILE:LINE, as the files of torch.compile or a stack show it; a frame as FILE(LINE): FUNCTION with the first line of the function; or the generated file.")
            .nullable() => source.as_ref().map(|source| source.text.as_str()),
        Column::word("source_by", "", &SourceBy::VOCABULARY, "What shows the source: `inductor` the files of torch.compile, `kernel_name` the same of a kernel that is known by its name only, `graph_node` the stack that added the node of the CUDA graph, `stack` the Python stack around its operator, `generated_file` that the operator names a generated file or is called in one.")
            .nullable() => source.as_ref().map(|source| source.by.as_str()),
        Column::text("annotation", "Annotation", "The annotation of the CUDA graph's node that ran the longest of them.")
            .nullable() => annotation(trace, group.longest),
        Column::text("occupancy_limit", "", "What limits the occupancy of the longest of them: WARPS, REGS, SMEM, BLOCKS or BARRIERS.")
            .nullable() => occupancy_limit(&trace.table, group.longest),
    ]
}

/// Returns an amount per second; null if the amount or the time is 0.
fn rate(amount: i64, ns: i64) -> Option<f64> {
    (amount > 0 && ns > 0).then(|| amount as f64 / (ns as f64 / 1e9))
}

fn share(part: i64, total: i64) -> f64 {
    if total == 0 { 0.0 } else { part as f64 / total as f64 }
}

/// Returns the groups as rows.
pub(crate) fn kernel_rows(trace: &Trace, by: KernelsBy) -> Rows {
    let groups = groups(&Analysis::new(trace), by, Some(KernelWork::new(trace)));
    let total: i64 = groups.iter().map(|g| g.sum_ns).sum();
    let sources = Sources::new(trace);
    Rows::from_cells(COLUMNS, groups.iter().map(|group| row(trace, &sources, group, total)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows::Cell;

    #[test]
    fn a_single_kernel_has_the_flops_of_its_operator() {
        let text = br#"{"traceEvents": [
            {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":50,
                "args":{"External id":1,"Input Dims":[[2,3],[3,4]],"Input type":["float","float"]}},
            {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":7,"External id":1}},
            {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":40,"dur":24,"args":{"correlation":7,"External id":1}},
            {"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH","pid":0,"tid":7,"ts":80,"dur":2,"args":{"bytes":4000}}
        ]}"#;
        let rows = kernel_rows(&Trace::read(text).expect("a trace"), KernelsBy::Name).rows;
        let at = |key: &str| COLUMNS.iter().position(|c| c.key == key).expect("a column");
        assert_eq!(rows[0][at("flops_per_second")], Cell::Rate(48.0 / 24e-6));
        assert_eq!(rows[0][at("bytes_per_second")], Cell::Null);
        assert_eq!(rows[1][at("bytes_per_second")], Cell::Rate(4000.0 / 2e-6));
        assert_eq!(rows[1][at("flops_per_second")], Cell::Null);
    }
}
