//! File names of PyTorch's `tensorboard_trace_handler`, which TensorBoard recognises.

use alloc::format;
use alloc::string::String;

/// Returns `WORKER.TIME.pt.trace.json`, with `.gz` appended for a compressed file. Without a worker, or with an empty
/// one, the worker is `HOST_PID`. The time is in ns since 1970, so that no two files of a worker have the same name.
pub fn tensorboard(worker: Option<&str>, (host, pid): (&str, u32), unix_ns: i64, gzip: bool) -> String {
    let worker =
        worker.filter(|worker| !worker.is_empty()).map_or_else(|| format!("{host}_{pid}"), String::from);
    format!("{worker}.{unix_ns}.pt.trace.json{}", if gzip { ".gz" } else { "" })
}
