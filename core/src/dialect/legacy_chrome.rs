//! Chrome traces of PyTorch's profiler before Kineto, and of `EventList.export_chrome_trace`.
//!
//! Events have no `cat`. Those of the process `CPU functions` are operators. Those of the process `CUDA functions` are the
//! device work of operators, one thread for each device.

use crate::table::category::Category;
use crate::table::events::{Row, Table};
use alloc::vec::Vec;

const PROCESSES: [(&str, Category); 2] =
    [("CPU functions", Category::CpuOp), ("CUDA functions", Category::Kernel)];

/// Whether the JSON of a `pid` is a process, of a merged trace also with its rank: `"rank 1: CPU functions"`.
fn is_process(json: &str, process: &str) -> bool {
    let of_rank = |text: &str| text.strip_prefix("rank ")?.split_once(": ").map(|(_, own)| own == process);
    let text = json.trim_matches('"');
    json.starts_with('"') && (text == process || of_rank(text) == Some(true))
}

/// Sets the categories of operators and device work.
pub(super) fn apply(table: &mut Table) {
    for (process, category) in PROCESSES {
        let pids = table.names.that(|json| is_process(json, process));
        let is_wanted = |&row: &Row| {
            table.ph(row) == b'X' && table.layout(row).cat.is_none() && pids.has(table.track(row).pid)
        };
        let rows: Vec<Row> = table.rows().filter(is_wanted).collect();
        for row in rows {
            table.set_meaning(row, (b'X', category), &[]);
        }
    }
}
