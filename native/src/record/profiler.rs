//! The profiler: what to record and when, and what to do with it. The counterpart of `torch.profiler.profile`.

use super::error::RecordError;
use super::handlers::Handler;
use super::mirror::Mirror;
use super::options::{Destination, Options};
use super::recording::Recording;
use super::session::{Member, Session, Statistics};
use super::steps::mark_step;
use crate::spans::{Scope, record_function};
use kinetoscope_core::schedule::{Deed, ProfilerAction, Schedule, deeds, is_misordered};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Spans of this program.
    Cpu,
    /// Work on CUDA devices.
    Cuda,
}

/// What can be recorded on this machine: torch's `supported_activities()`.
pub fn supported_activities() -> &'static [Activity] {
    &[Activity::Cpu]
}

type ScheduleFn = Box<dyn FnMut(u64) -> ProfilerAction + Send>;

/// What a profiler is to record; [`Profiler::builder`] gives torch's defaults.
pub struct Builder {
    options: Options,
    schedule: Option<ScheduleFn>,
    handlers: Vec<Handler>,
    metadata: Vec<Member>,
    accumulates: bool,
    is_enabled: bool,
}

impl Builder {
    /// What is looked at. CUDA, where there is none, is a warning in the trace, and the rest goes on.
    pub fn activities(mut self, activities: &[Activity]) -> Self {
        if activities.contains(&Activity::Cuda) && !supported_activities().contains(&Activity::Cuda) {
            let warning = "CUDA was asked for and is not available: only the CPU is recorded";
            self.options.warnings.push(warning.to_owned());
        }
        self
    }

    /// Records the shapes, types and values that spans tell of their inputs.
    pub fn record_shapes(mut self, is_on: bool) -> Self {
        self.options.record_shapes = is_on;
        self
    }

    /// Records every allocation that [`memory`](super::memory) hears of.
    pub fn profile_memory(mut self, is_on: bool) -> Self {
        self.options.profile_memory = is_on;
        self
    }

    /// Records the call stack of every span.
    pub fn with_stack(mut self, is_on: bool) -> Self {
        self.options.with_stack = is_on;
        self
    }

    /// Records floating point operations, and shapes, from which those of torch's operators are computed.
    pub fn with_flops(mut self, is_on: bool) -> Self {
        self.options.with_flops = is_on;
        self
    }

    /// Records calls of [modules](crate::spans::module::Module).
    pub fn with_modules(mut self, is_on: bool) -> Self {
        self.options.with_modules = is_on;
        self
    }

    /// Also tells another profiler of every span.
    pub fn mirror(mut self, mirror: Mirror) -> Self {
        self.options.mirrors.push(mirror);
        self
    }

    /// Which steps are recorded; without a schedule, all from `start` to `stop`.
    pub fn schedule(self, schedule: Schedule) -> Self {
        let warning = schedule.warning();
        let mut builder = self.schedule_fn(move |step| schedule.action(step));
        builder.options.warnings.extend(warning.map(str::to_owned));
        builder
    }

    /// The same by a function of the step, which is called once for each.
    pub fn schedule_fn(mut self, schedule: impl FnMut(u64) -> ProfilerAction + Send + 'static) -> Self {
        self.schedule = Some(Box::new(schedule));
        self
    }

    /// What is done with each recording: one of [`handlers`](super::handlers), or a function of one's own. Several are
    /// called in turn.
    pub fn on_trace_ready(mut self, handler: Handler) -> Self {
        self.handlers.push(handler);
        self
    }

    /// A key of the trace's top-level object.
    pub fn metadata(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.push((key.to_owned(), value.into()));
        self
    }

    /// Each recording also holds those of the cycles before it: torch's `acc_events`.
    pub fn accumulate(mut self, is_on: bool) -> Self {
        self.accumulates = is_on;
        self
    }

    /// A profiler that is not enabled does nothing, and its `stop` gives nothing.
    pub fn enabled(mut self, is_on: bool) -> Self {
        self.is_enabled = is_on;
        self
    }

    /// Appends to a file while recording, so that what was recorded is there even when the program is killed. Without
    /// one, the recording is kept in memory.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.destination = Destination::File { path: path.into(), is_durable: false };
        self
    }

    /// The same, and waits after each write until the disk has it: for power loss, not for a killed program.
    pub fn durable_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.destination = Destination::File { path: path.into(), is_durable: true };
        self
    }

    /// How often what was recorded is written; what is younger is lost when the program is killed. 20 ms if not said.
    pub fn flush_interval(mut self, interval: Duration) -> Self {
        self.options.flush_interval = interval.max(Duration::from_millis(1));
        self
    }

    /// How many bytes may wait to be written; what finds no room is dropped and counted. 64 MiB if not said.
    pub fn buffer_bytes(mut self, bytes: usize) -> Self {
        self.options.buffer_bytes = bytes;
        self
    }

    /// Keeps the recording in memory, in at most so many bytes; what finds no room is dropped and counted. 1 GiB if nothing
    /// is said.
    pub fn memory_bytes(mut self, bytes: usize) -> Self {
        self.options.destination = Destination::Memory { bytes };
        self
    }

    /// The profiler, not started yet.
    pub fn build(self) -> Profiler {
        Profiler {
            records_steps: self.schedule.is_some(),
            schedule: self.schedule.unwrap_or_else(|| Box::new(|_| ProfilerAction::Record)),
            options: self.options,
            handlers: self.handlers,
            metadata: self.metadata,
            accumulates: self.accumulates,
            is_enabled: self.is_enabled,
            step: 0,
            cycle: 0,
            action: None,
            step_scope: None,
            session: None,
            accumulated: Vec::new(),
            last: None,
        }
    }

    /// A profiler that is started already.
    ///
    /// # Errors
    /// As [`Profiler::start`].
    pub fn start(self) -> Result<Profiler, RecordError> {
        let mut profiler = self.build();
        profiler.start()?;
        Ok(profiler)
    }
}

/// Records what the program does between `start` and `stop`, or in the steps that a schedule names.
///
/// ```
/// use kinetoscope::record::profiler::Profiler;
/// use kinetoscope::scope;
///
/// let mut profiler = Profiler::builder().record_shapes(true).start()?;
/// {
///     let _span = scope!("work", shapes: [[2, 3]]);
/// }
/// let recording = profiler.stop()?.expect("it was enabled");
/// assert_eq!(recording.key_averages(Default::default())[0].key, "work");
/// # Ok::<(), kinetoscope::record::error::RecordError>(())
/// ```
pub struct Profiler {
    options: Options,
    schedule: ScheduleFn,
    records_steps: bool,
    handlers: Vec<Handler>,
    metadata: Vec<Member>,
    accumulates: bool,
    is_enabled: bool,
    step: u64,
    cycle: u64,
    action: Option<ProfilerAction>,
    step_scope: Option<Scope>,
    session: Option<Session>,
    accumulated: Vec<u8>,
    last: Option<Recording>,
}

impl Profiler {
    /// torch's defaults: the CPU, without shapes, memory, stacks, operations or modules.
    pub fn builder() -> Builder {
        Builder {
            options: Options::default(),
            schedule: None,
            handlers: Vec::new(),
            metadata: Vec::new(),
            accumulates: false,
            is_enabled: true,
        }
    }

    /// Starts with step 0.
    ///
    /// # Errors
    /// [`RecordError::AlreadyStarted`]; [`RecordError::AlreadyRecording`] when another profiler of this process records;
    /// those of the file.
    pub fn start(&mut self) -> Result<(), RecordError> {
        if !self.is_enabled {
            return Ok(());
        }
        if self.action.is_some() {
            return Err(RecordError::AlreadyStarted);
        }
        self.step = 0;
        let action = (self.schedule)(0);
        self.turn(Some(action))?;
        self.begin_step();
        Ok(())
    }

    /// Ends a step and begins the next.
    ///
    /// # Errors
    /// [`RecordError::NotStarted`]; those of a recording that ends or begins here, and of its handlers.
    pub fn step(&mut self) -> Result<(), RecordError> {
        if !self.is_enabled {
            return Ok(());
        }
        if self.action.is_none() {
            return Err(RecordError::NotStarted);
        }
        self.step_scope = None;
        self.step += 1;
        mark_step("ProfilerStep");
        let action = (self.schedule)(self.step);
        self.turn(Some(action))?;
        self.begin_step();
        Ok(())
    }

    /// The number of the present step, from 0.
    pub fn step_number(&self) -> u64 {
        self.step
    }

    /// What is done in the present step; nothing before `start` and after `stop`.
    pub fn action(&self) -> Option<ProfilerAction> {
        self.action
    }

    /// Stops, and gives what was recorded last: nothing when no step was recorded, or the profiler is not enabled.
    ///
    /// # Errors
    /// [`RecordError::NotStarted`]; those of the recording and of its handlers.
    pub fn stop(&mut self) -> Result<Option<Recording>, RecordError> {
        if !self.is_enabled {
            return Ok(None);
        }
        if self.action.is_none() {
            return Err(RecordError::NotStarted);
        }
        self.step_scope = None;
        self.turn(None)?;
        Ok(self.last.take())
    }

    /// Adds a key, whose value is a text, to the trace's top-level object.
    pub fn add_metadata(&mut self, key: &str, value: &str) {
        self.metadata.push((key.to_owned(), value.into()));
    }

    /// Adds a key, whose value is JSON.
    ///
    /// # Errors
    /// [`RecordError::BadMetadata`] when it is not.
    pub fn add_metadata_json(&mut self, key: &str, value: &str) -> Result<(), RecordError> {
        let bad =
            |e: serde_json::Error| RecordError::BadMetadata { key: key.to_owned(), reason: e.to_string() };
        self.metadata.push((key.to_owned(), serde_json::from_str(value).map_err(bad)?));
        Ok(())
    }

    fn begin_step(&mut self) {
        if self.records_steps && crate::spans::is_recording() {
            self.step_scope = Some(record_function(&format!("ProfilerStep#{}", self.step)));
        }
    }

    /// Goes from one action to the next: torch's table of what has to be done.
    fn turn(&mut self, next: Option<ProfilerAction>) -> Result<(), RecordError> {
        let before = self.action;
        if before.zip(next).is_some_and(|(from, to)| is_misordered(from, to)) {
            let warning = format!("the schedule drops what step {} recorded", self.step.saturating_sub(1));
            self.options.warnings.push(warning);
        }
        self.action = next;
        let mut stopped = None;
        for deed in deeds(before, next) {
            match deed {
                Deed::PrepareTrace => {
                    let session = Session::prepare(&self.options, self.cycle);
                    if session.is_err() {
                        self.action = None;
                    }
                    self.session = Some(session?);
                }
                Deed::StartTrace => self.session.iter_mut().for_each(Session::enable),
                Deed::StopTrace => {
                    if let Some(session) = self.session.take() {
                        stopped = Some(session.finish(&self.metadata)?);
                        self.cycle += 1;
                    }
                }
                Deed::TraceReady => self.hand_over(stopped.take())?,
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, stopped: Option<(Vec<u8>, Statistics)>) -> Result<(), RecordError> {
        let Some((mut bytes, statistics)) = stopped else { return Ok(()) };
        if self.accumulates {
            self.accumulated.append(&mut bytes);
            bytes.clone_from(&self.accumulated);
        }
        let recording = self.last.insert(Recording::new(bytes, statistics, self.step)?);
        for handler in &mut self.handlers {
            handler(recording)?;
        }
        Ok(())
    }
}

impl Drop for Profiler {
    /// A profiler that is dropped while it records ends its recording as `stop` does; handlers are not called, and a file
    /// keeps what was written.
    fn drop(&mut self) {
        self.step_scope = None;
        if let Some(session) = self.session.take() {
            let _ = session.finish(&self.metadata);
        }
    }
}
