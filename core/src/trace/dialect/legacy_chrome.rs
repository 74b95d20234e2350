//! Chrome traces of PyTorch's profiler before Kineto, and of `EventList.export_chrome_trace`.
//!
//! Events have no `cat`. Those of the process `CPU functions` are operators. Those of the process `CUDA functions` are the
//! device work of operators, one thread for each device.

use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::merged::split_rank;
use alloc::vec::Vec;

const PROCESSES: [(&str, Category); 2] =
    [("CPU functions", Category::CpuOp), ("CUDA functions", Category::Kernel)];

/// Whether the JSON of a `pid` is a process, of a merged trace also with its rank: `"rank 1: CPU functions"`.
fn is_process(json: &str, process: &str) -> bool {
    let text = json.trim_matches('"');
    json.starts_with('"') && split_rank(text).map_or(text, |(_, name)| name) == process
}

/// Sets the categories of operators and device work.
pub(super) fn apply(table: &mut Table) {
    for (process, category) in PROCESSES {
        let tracks = table.tracks.all().iter();
        let is_own: Vec<bool> = tracks.map(|track| is_process(table.names.get(track.pid), process)).collect();
        if !is_own.contains(&true) {
            continue;
        }
        let is_wanted = |&row: &Row| {
            table.ph(row) == b'X' && table.layout(row).cat.is_none() && is_own[table.track_id(row).0 as usize]
        };
        let rows: Vec<Row> = table.rows().filter(is_wanted).collect();
        for row in rows {
            table.set_meaning(row, (b'X', category), &[]);
        }
    }
}
