//! The observer of execution traces: PyTorch's `ExecutionTraceObserver`.

use super::handlers::step_path;
use super::recording::Recording;
use crate::error::RecordError;
use crate::hot::lock::hold;
use crate::hot::state::OBSERVED;
use crate::replace;
use kinetoscope_core::output::write::execution_trace::observed_trace;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Writes the operators of a recording, or of parts of it, as an execution trace: PyTorch's `ExecutionTraceObserver`. It
/// is attached with [`ProfilerBuilder::execution_trace_observer`](crate::ProfilerBuilder::execution_trace_observer).
///
/// It starts with each recording, and can be paused and started again meanwhile. The spans that begin while it runs have
/// the `rf_id` of their node as `Record function id` in the trace; it is 0 for the others. The file is written at the end
/// of the recording.
///
/// With [`with_modules`](crate::ProfilerBuilder::with_modules), the nodes of operators in calls of
/// [`Module::scope`](crate::Module::scope) have the attribute `module_hierarchy`, such as
/// `TOP(Net)::forward.fc(Linear)::forward.`. The calls themselves are no nodes.
///
/// ```
/// use kinetoscope::{ExecutionTraceObserver, Profiler, scope};
///
/// let path = std::env::temp_dir().join("kinetoscope-example.et.json");
/// let observer = ExecutionTraceObserver::new(&path);
/// let mut profiler = Profiler::builder().execution_trace_observer(&observer).start()?;
/// drop(scope!("a node"));
/// observer.pause()?;
/// drop(scope!("no node"));
/// profiler.stop()?;
/// # std::fs::remove_file(path)?;
/// # Ok::<(), kinetoscope::RecordError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExecutionTraceObserver {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    /// The number of the recording that is observed; 0 if none runs or the observer was stopped in it.
    recording: Mutex<u32>,
}

impl ExecutionTraceObserver {
    /// Creates an observer that writes to this file. The traces of later cycles of a schedule are written to `path` with
    /// its extension replaced by `STEP.json`.
    pub fn new(path: impl Into<PathBuf>) -> ExecutionTraceObserver {
        ExecutionTraceObserver { shared: Arc::new(Shared { path: path.into(), recording: Mutex::new(0) }) }
    }

    /// Starts the observer again after [`pause`](Self::pause).
    ///
    /// # Errors
    /// Returns [`RecordError::NotStarted`] if the profiler that it is attached to does not record, and after
    /// [`stop`](Self::stop) until the next recording.
    pub fn start(&self) -> Result<(), RecordError> {
        self.observe(|number| number)
    }

    /// Pauses the observer: spans that begin now are no nodes.
    ///
    /// # Errors
    /// The same as of [`start`](Self::start).
    pub fn pause(&self) -> Result<(), RecordError> {
        self.observe(|_| 0)
    }

    /// Stops the observer for the rest of the recording.
    ///
    /// # Errors
    /// The same as of [`start`](Self::start).
    pub fn stop(&self) -> Result<(), RecordError> {
        self.pause()?;
        *hold(&self.shared.recording) = 0;
        Ok(())
    }

    /// Returns whether spans that begin now are nodes.
    pub fn is_running(&self) -> bool {
        let number = *hold(&self.shared.recording);
        number != 0 && OBSERVED.load(Ordering::SeqCst) == number
    }

    fn observe(&self, observed: impl FnOnce(u32) -> u32) -> Result<(), RecordError> {
        let number = *hold(&self.shared.recording);
        if number == 0 {
            return Err(RecordError::NotStarted);
        }
        OBSERVED.store(observed(number), Ordering::SeqCst);
        Ok(())
    }

    /// Starts the observer with the recording of this number; 0 stops it.
    pub(super) fn attach(&self, number: u32) {
        *hold(&self.shared.recording) = number;
        OBSERVED.store(number, Ordering::SeqCst);
    }

    /// Returns a handler that writes the execution trace of each recording.
    pub(super) fn handler(&self) -> impl FnMut(&Recording) -> Result<(), RecordError> + Send + use<> {
        let path = self.shared.path.clone();
        let mut is_first = true;
        move |recording| {
            let path = step_path(&path, recording, &mut is_first);
            Ok(replace::write(&path, observed_trace(recording.trace()?))?)
        }
    }
}
