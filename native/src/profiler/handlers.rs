//! Handlers for finished recordings: PyTorch's `on_trace_ready`.

use super::recording::Recording;
use crate::error::RecordError;
use crate::hot::system::host_name;
use crate::io_error::with_path;
#[cfg(feature = "analysis")]
use crate::replace;
use std::fs;
#[cfg(feature = "analysis")]
use std::path::Path;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
#[cfg(feature = "analysis")]
use {
    super::profile_data::longest_first, kinetoscope_core::analysis::query::group_by::GroupBy,
    kinetoscope_core::analysis::torch::table_options::TableOptions,
    kinetoscope_core::output::write::execution_trace::execution_trace,
    kinetoscope_core::output::write::file_name,
};

/// The file that `torch_geometric`'s `trace_handler` and [`timeline_handler`] write.
pub(super) const TIMELINE: &str = "timeline.json";

/// A function that is called with each recording.
pub type Handler = Box<dyn FnMut(&Recording) -> Result<(), RecordError> + Send>;

/// Returns a handler that writes each recording to the folder as `WORKER.TIME.ktrace`. The default worker is
/// `HOST_PID`; the time is in ns since 1970.
pub fn ktrace_handler(folder: impl Into<PathBuf>, worker_name: Option<&str>) -> Handler {
    let folder = folder.into();
    let worker = worker_name.map_or_else(|| format!("{}_{}", host_name(), std::process::id()), str::to_owned);
    Box::new(move |recording| {
        fs::create_dir_all(&folder).map_err(with_path(&folder))?;
        recording.save(folder.join(format!("{worker}.{}.ktrace", unix_ns())))
    })
}

/// Returns a handler that writes each recording to the folder as a Chrome trace, with the file name that TensorBoard's
/// profiler plugin expects: `WORKER.TIME.pt.trace.json`, or `.json.gz` if it is compressed. The default worker is
/// `HOST_PID`.
#[cfg(feature = "analysis")]
pub fn tensorboard_trace_handler(
    folder: impl Into<PathBuf>,
    worker_name: Option<&str>,
    gzip: bool,
) -> Handler {
    let folder = folder.into();
    let worker = worker_name.map(str::to_owned);
    Box::new(move |recording| {
        fs::create_dir_all(&folder).map_err(with_path(&folder))?;
        let host = host_name();
        let name = file_name::tensorboard(worker.as_deref(), (&host, std::process::id()), unix_ns(), gzip);
        recording.export_chrome_trace(folder.join(name))
    })
}

/// Returns a handler that prints PyTorch's table of each recording to standard output.
#[cfg(feature = "analysis")]
pub fn print_table(options: TableOptions) -> Handler {
    Box::new(move |recording| {
        println!("{}", recording.table_with(GroupBy::default(), &options)?);
        Ok(())
    })
}

/// Returns a handler that prints PyTorch's table of each recording to standard output, sorted by the self time on devices
/// if the recording has work of devices, otherwise by the self time on the CPU: `torch_geometric`'s `print_time_total`.
#[cfg(feature = "analysis")]
pub fn print_time_total() -> Handler {
    Box::new(print_times)
}

/// Returns a handler that prints the table of [`print_time_total`] and writes the Chrome trace to `timeline.json` in the
/// folder, which a later recording replaces: `torch_geometric`'s `trace_handler`.
/// `rename_profile_file` of `profiler::measure` renames the file.
#[cfg(feature = "analysis")]
pub fn timeline_handler(folder: impl Into<PathBuf>) -> Handler {
    let folder = folder.into();
    Box::new(move |recording| {
        print_times(recording)?;
        fs::create_dir_all(&folder).map_err(with_path(&folder))?;
        recording.export_chrome_trace(folder.join(TIMELINE))
    })
}

#[cfg(feature = "analysis")]
fn print_times(recording: &Recording) -> Result<(), RecordError> {
    let by = longest_first(&recording.events()?);
    println!("{}", recording.table_with(GroupBy::default(), &TableOptions::default().with_sort_by(by))?);
    Ok(())
}

/// Returns a handler that writes each recording as an execution trace: the first one to `path`, those of later cycles
/// to `path` with its extension replaced by `STEP.json`.
#[cfg(feature = "analysis")]
pub fn execution_trace_handler(path: impl Into<PathBuf>) -> Handler {
    let path = path.into();
    let mut is_first = true;
    Box::new(move |recording| {
        let path = step_path(&path, recording, &mut is_first);
        Ok(replace::write(&path, execution_trace(recording.trace()?))?)
    })
}

/// Returns the path for a recording: `path` for the first one, then with the extension `STEP.json`.
#[cfg(feature = "analysis")]
pub(super) fn step_path(path: &Path, recording: &Recording, is_first: &mut bool) -> PathBuf {
    if std::mem::replace(is_first, false) {
        path.to_owned()
    } else {
        path.with_extension(format!("{}.json", recording.step))
    }
}

/// Returns the time in ns since 1970.
fn unix_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64)
}
