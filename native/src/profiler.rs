//! The profiler: what to record and when, and what to do with it. The counterpart of `torch.profiler.profile`.

mod builder;
pub(crate) mod flight;
pub mod handlers;
pub mod measure;
pub(crate) mod recording;
#[cfg(unix)]
mod signal;
mod stats;

use crate::error::RecordError;
use crate::options::{Activity, Options};
use crate::output::document::Member;
use crate::output::session::Session;
use crate::output::statistics::Statistics;
use crate::schedule::{ProfilerAction, Transition, is_misordered, transitions};
use crate::spans::{Scope, record_function};
use crate::steps::mark_step;
use builder::ScheduleFn;
use handlers::Handler;
use recording::Recording;

/// What can be recorded on this machine: torch's `supported_activities()`.
pub fn supported_activities() -> &'static [Activity] {
    if crate::device::probe().is_ok() { &[Activity::Cpu, Activity::Cuda] } else { &[Activity::Cpu] }
}

pub use builder::ProfilerBuilder;

/// Records what the program does between `start` and `stop`, or in the steps that a schedule names.
///
/// ```
/// use kinetoscope::{Profiler, scope};
///
/// let mut profiler = Profiler::builder().record_shapes(true).start()?;
/// {
///     let _span = scope!("work", shapes: [[2, 3]]);
/// }
/// let recording = profiler.stop()?.expect("it was enabled");
/// recording.save("run.ktrace")?;
/// # std::fs::remove_file("run.ktrace")?;
/// # Ok::<(), kinetoscope::RecordError>(())
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
    /// torch's defaults: all activities that there are, without shapes, memory, stacks, operations or modules.
    pub fn builder() -> ProfilerBuilder {
        ProfilerBuilder::new()
    }

    fn new(plan: ProfilerBuilder) -> Profiler {
        Profiler {
            records_steps: plan.schedule.is_some(),
            schedule: plan.schedule.unwrap_or_else(|| Box::new(|_| ProfilerAction::Record)),
            options: plan.options,
            handlers: plan.handlers,
            metadata: plan.metadata,
            accumulates: plan.accumulates,
            is_enabled: plan.is_enabled,
            step: 0,
            cycle: 0,
            action: None,
            step_scope: None,
            session: None,
            accumulated: Vec::new(),
            last: None,
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
    pub fn add_metadata(&mut self, key: impl Into<String>, value: &str) {
        self.metadata.push((key.into(), value.into()));
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
        for transition in transitions(before, next) {
            match transition {
                Transition::PrepareTrace => {
                    let session = Session::prepare(&self.options, self.cycle);
                    if session.is_err() {
                        self.action = None;
                    }
                    self.session = Some(session?);
                }
                Transition::StartTrace => self.session.iter_mut().for_each(Session::enable),
                Transition::StopTrace => {
                    if let Some(session) = self.session.take() {
                        stopped = Some(session.finish(&self.metadata)?);
                        self.cycle += 1;
                    }
                }
                Transition::TraceReady => self.hand_over(stopped.take())?,
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

impl ProfilerBuilder {
    /// The profiler, not started yet.
    pub fn build(self) -> Profiler {
        Profiler::new(self)
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
