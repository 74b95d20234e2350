//! What is done with a recording when it is ready: torch's `on_trace_ready`.

use super::error::RecordError;
use super::recording::Recording;
use super::session::host_name;
use kinetoscope_core::analysis::torch::averages::GroupBy;
use kinetoscope_core::report::torch_table::TableOptions;
use kinetoscope_core::write::file_name;
use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is done with each recording.
pub type Handler = Box<dyn FnMut(&Recording) -> Result<(), RecordError> + Send>;

/// Writes each recording as a Chrome trace into a folder, under the names that TensorBoard's profiler plugin looks for:
/// `WORKER.TIME.pt.trace.json`, with `.gz` behind it where it is compressed. The worker is `HOST_PID` if none is given.
pub fn tensorboard_trace_handler(
    folder: impl Into<PathBuf>,
    worker_name: Option<&str>,
    gzip: bool,
) -> Handler {
    let folder = folder.into();
    let worker = worker_name.map(str::to_owned);
    Box::new(move |recording| {
        fs::create_dir_all(&folder)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64);
        let host = host_name();
        let name = file_name::tensorboard(worker.as_deref(), (&host, std::process::id()), now, gzip);
        recording.export_chrome_trace(&folder.join(name))
    })
}

/// Prints torch's table of each recording to standard output.
pub fn print_table(options: TableOptions) -> Handler {
    Box::new(move |recording| {
        println!("{}", recording.table(GroupBy::default(), &options)?);
        Ok(())
    })
}
