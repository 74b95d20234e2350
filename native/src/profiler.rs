//! The profiler: the counterpart of `torch.profiler.profile`. Its builder sets what is recorded, its schedule sets
//! which steps, and its handlers receive the recordings.

mod builder;
pub(crate) mod flight;
pub mod handlers;
pub mod measure;
#[cfg(feature = "analysis")]
pub(crate) mod observer;
#[cfg(feature = "analysis")]
mod post_processing;
#[cfg(feature = "analysis")]
mod profile_data;
pub(crate) mod recording;
mod setters;
#[cfg(unix)]
mod signal;
mod stats;
mod step;
mod time_it;

use crate::activity::Activity;
use crate::device::Unavailable;
use crate::error::RecordError;
use crate::json::Members;
use crate::options::{Destination, Existing, Options};
use crate::output::content::Content;
use crate::output::session::Session;
use crate::output::statistics::Statistics;
use crate::schedule::{ProfilerAction, Transition, is_misordered, transitions};
use crate::steps::mark_step;
use builder::ScheduleFn;
use handlers::Handler;
use recording::Recording;
use std::panic::{AssertUnwindSafe, catch_unwind};
use step::StepSpan;

/// Returns the activities that can be recorded on this machine: PyTorch's `supported_activities()`.
pub fn supported_activities() -> &'static [Activity] {
    if crate::device::probe().is_ok() { &[Activity::Cpu, Activity::Cuda] } else { &[Activity::Cpu] }
}

pub use builder::ProfilerBuilder;

/// Records the program between `start` and `stop`, or in the steps that a schedule selects.
///
/// ```
/// use kinetoscope::{Profiler, scope};
///
/// let profiler = Profiler::builder().record_shapes(true).start()?;
/// drop(scope!("work", shapes: [[2, 3]]));
/// profiler.finish()?.save("run.ktrace")?;
/// # std::fs::remove_file("run.ktrace")?;
/// # Ok::<(), kinetoscope::RecordError>(())
/// ```
pub struct Profiler {
    options: Options,
    schedule: ScheduleFn,
    records_steps: bool,
    handlers: Vec<Handler>,
    metadata: Members,
    #[cfg(feature = "analysis")]
    observer: Option<observer::ExecutionTraceObserver>,
    #[cfg(feature = "analysis")]
    post_processing: post_processing::PostProcessing,
    accumulates: bool,
    is_enabled: bool,
    step: u64,
    cycle: u64,
    action: Option<ProfilerAction>,
    step_span: Option<StepSpan>,
    session: Option<Session>,
    accumulated: Option<Content>,
    last: Option<Recording>,
    unavailable: Vec<(Activity, Unavailable)>,
}

impl Profiler {
    /// Returns a builder with PyTorch's defaults: all available activities, without shapes, memory, stacks, FLOPs or
    /// modules.
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
            #[cfg(feature = "analysis")]
            observer: plan.observer,
            #[cfg(feature = "analysis")]
            post_processing: plan.post_processing,
            accumulates: plan.accumulates,
            is_enabled: plan.is_enabled,
            step: 0,
            cycle: 0,
            action: None,
            step_span: None,
            session: None,
            accumulated: None,
            last: None,
            unavailable: Vec::new(),
        }
    }

    /// Starts the profiler, at step 0.
    ///
    /// # Errors
    /// Returns [`RecordError::AlreadyStarted`] if it is started, [`RecordError::AlreadyRecording`] if another profiler
    /// of this process records, [`RecordError::NoActivities`] and [`RecordError::CannotRecord`] if there is nothing to
    /// record, and [`RecordError::Io`] if the file cannot be opened.
    pub fn start(&mut self) -> Result<(), RecordError> {
        if !self.is_enabled {
            return Ok(());
        }
        if self.action.is_some() {
            return Err(RecordError::AlreadyStarted);
        }
        self.step = 0;
        let action = (self.schedule)(0);
        self.change_action(Some(action))?;
        self.begin_step();
        Ok(())
    }

    /// Ends a step and begins the next one.
    ///
    /// # Errors
    /// Returns [`RecordError::NotStarted`] if the profiler is not started, and the errors of a recording that starts or
    /// ends here and of its handlers.
    pub fn step(&mut self) -> Result<(), RecordError> {
        if !self.is_enabled {
            return Ok(());
        }
        if self.action.is_none() {
            return Err(RecordError::NotStarted);
        }
        self.step_span = None;
        self.step += 1;
        mark_step("ProfilerStep");
        let action = (self.schedule)(self.step);
        self.change_action(Some(action))?;
        self.begin_step();
        Ok(())
    }

    /// Pauses or resumes the recording of these activities while it runs: PyTorch's `toggle_collection_dynamic`. Has no
    /// effect on those that are paused, or run, already. Before CUDA is paused, the work that was submitted is
    /// completed.
    ///
    /// A span that is open at a pause keeps its real end, and one that is open when the recording is resumed begins
    /// there. A span that was open when the recording started is lost if it ends in a pause, and begins at the last resume
    /// otherwise. The trace has a span `not recorded: ACTIVITY` with the category `not_recorded` for each pause.
    ///
    /// # Errors
    /// Returns [`RecordError::NotStarted`] if nothing is being recorded, and [`RecordError::CannotRecord`] if CUDA
    /// cannot be resumed or [`RecordError::NotRecorded`] for an activity that is not part of the recording. In the last
    /// case nothing is changed.
    pub fn toggle(&mut self, enable: bool, activities: &[Activity]) -> Result<(), RecordError> {
        let session = self.session.as_mut().filter(|session| session.is_started());
        let session = session.ok_or(RecordError::NotStarted)?;
        let recorded = session.activities();
        if let Some(&other) = activities.iter().find(|activity| !recorded.contains(activity)) {
            return Err(RecordError::NotRecorded(other));
        }
        activities.iter().try_for_each(|&activity| session.toggle(enable, activity))
    }

    /// Pauses the recording of all activities; see [`Profiler::toggle`].
    ///
    /// # Errors
    /// The same as of [`Profiler::toggle`].
    pub fn pause(&mut self) -> Result<(), RecordError> {
        self.toggle_all(false)
    }

    /// Resumes the recording of all activities; see [`Profiler::toggle`].
    ///
    /// # Errors
    /// The same as of [`Profiler::toggle`].
    pub fn resume(&mut self) -> Result<(), RecordError> {
        self.toggle_all(true)
    }

    fn toggle_all(&mut self, enable: bool) -> Result<(), RecordError> {
        let activities = self.session.as_ref().map(Session::activities).unwrap_or_default();
        self.toggle(enable, &activities)
    }

    /// Returns the number of the present step, from 0.
    pub fn step_number(&self) -> u64 {
        self.step
    }

    /// Returns the action of the present step; `None` before `start` and after `stop`.
    pub fn action(&self) -> Option<ProfilerAction> {
        self.action
    }

    /// Returns the requested activities that the present or last recording leaves out, with the reasons.
    pub fn unavailable(&self) -> &[(Activity, Unavailable)] {
        &self.unavailable
    }

    /// Stops the profiler and returns the last recording; `None` if no step was recorded or the profiler is not
    /// enabled.
    ///
    /// # Errors
    /// Returns [`RecordError::NotStarted`] if the profiler is not started, and the errors of the recording and of its
    /// handlers.
    pub fn stop(&mut self) -> Result<Option<Recording>, RecordError> {
        if !self.is_enabled {
            return Ok(None);
        }
        if self.action.is_none() {
            return Err(RecordError::NotStarted);
        }
        self.step_span = None;
        self.change_action(None)?;
        Ok(self.last.take())
    }

    /// Stops the profiler and returns the last recording.
    ///
    /// # Errors
    /// Returns the errors of [`Profiler::stop`], and [`RecordError::NothingRecorded`] if it returns no recording.
    pub fn finish(mut self) -> Result<Recording, RecordError> {
        self.stop()?.ok_or(RecordError::NothingRecorded)
    }

    /// Adds a member whose value is a string to the trace's top-level object.
    pub fn add_metadata(&mut self, key: impl AsRef<str>, value: &str) {
        self.metadata.text(key.as_ref(), value);
    }

    /// Adds a member whose value is JSON to the trace's top-level object. Needs the feature `analysis`.
    ///
    /// # Errors
    /// Returns [`RecordError::BadMetadata`] if the value is not valid JSON.
    #[cfg(feature = "analysis")]
    pub fn add_metadata_json(&mut self, key: &str, value: &str) -> Result<(), RecordError> {
        let bad =
            |e: serde_json::Error| RecordError::BadMetadata { key: key.to_owned(), reason: e.to_string() };
        let value: serde_json::Value = serde_json::from_str(value).map_err(bad)?;
        self.metadata.json(key, &value.to_string());
        Ok(())
    }

    fn begin_step(&mut self) {
        if self.records_steps && crate::spans::is_recording() {
            self.step_span = Some(StepSpan::begin(self.step));
        }
    }

    /// Changes to the next action and performs the [`Transition`]s between the two.
    fn change_action(&mut self, next: Option<ProfilerAction>) -> Result<(), RecordError> {
        let before = self.action;
        if before.zip(next).is_some_and(|(from, to)| is_misordered(from, to)) {
            let warning = format!("the schedule drops the records of step {}", self.step.saturating_sub(1));
            self.options.warnings.push(warning);
        }
        self.action = next;
        let (mut stopped, mut result) = (None, Ok(()));
        for transition in transitions(before, next) {
            match transition {
                Transition::PrepareTrace => {
                    let session = Session::prepare(&self.options, self.cycle);
                    if session.is_err() {
                        self.action = None;
                    }
                    let session = self.session.insert(session?);
                    self.unavailable.clone_from(&session.unavailable);
                    // Later recordings of this profiler follow the first one in its file.
                    self.options.existing = Existing::Append;
                }
                Transition::StartTrace => {
                    #[cfg(feature = "analysis")]
                    self.attach_observer();
                    self.session.iter_mut().for_each(Session::enable);
                }
                Transition::StopTrace => {
                    #[cfg(feature = "analysis")]
                    self.detach_observer();
                    if let Some(session) = self.session.take() {
                        let finished = session.finish(&self.metadata);
                        stopped = finished.map_err(|error| result = Err(error)).ok();
                        self.cycle += 1;
                    }
                }
                // A handler that fails does not cost the next cycle.
                Transition::TraceReady => result = result.and(self.deliver(stopped.take())),
            }
        }
        result
    }

    #[cfg(feature = "analysis")]
    fn attach_observer(&self) {
        if let (Some(observer), Some(session)) = (&self.observer, &self.session) {
            observer.attach(session.number());
        }
    }

    #[cfg(feature = "analysis")]
    fn detach_observer(&self) {
        self.observer.iter().for_each(|observer| observer.attach(0));
    }

    /// Passes a finished recording to the handlers, together with those of earlier cycles if they accumulate. All
    /// handlers are called; the first error is returned.
    fn deliver(&mut self, stopped: Option<(Content, Statistics)>) -> Result<(), RecordError> {
        let Some((mut content, statistics)) = stopped else { return Ok(()) };
        if self.accumulates {
            if let Some(mut earlier) = self.accumulated.take() {
                earlier.append(content);
                content = earlier;
            }
            self.accumulated = Some(content.clone());
        }
        let recording = Recording::new(content, statistics, self.step);
        #[cfg(feature = "analysis")]
        let recording = recording.processed(&self.post_processing);
        let recording = self.last.insert(recording);
        let mut result = Ok(());
        for handler in &mut self.handlers {
            result = result.and(handler(recording));
        }
        result
    }
}

impl ProfilerBuilder {
    /// Builds a profiler that is not started.
    pub fn build(self) -> Profiler {
        Profiler::new(self)
    }

    /// Builds and starts a profiler.
    ///
    /// # Errors
    /// The same as of [`Profiler::start`].
    pub fn start(self) -> Result<Profiler, RecordError> {
        let mut profiler = self.build();
        profiler.start()?;
        Ok(profiler)
    }
}

impl Drop for Profiler {
    /// Stops the profiler if it is started, as [`stop`](Profiler::stop) does: the handlers are called, and a file keeps what
    /// was written. An error, and a recording in memory that no handler receives, is reported on standard error.
    fn drop(&mut self) {
        if self.session.as_ref().is_none_or(|session| !session.is_own_process()) {
            return;
        }
        let is_kept =
            !self.handlers.is_empty() || matches!(self.options.destination, Destination::File { .. });
        // A panic of a handler while the thread panics would abort the program.
        match catch_unwind(AssertUnwindSafe(|| self.stop())) {
            Ok(Err(error)) => eprintln!("kinetoscope: the recording was lost: {error}"),
            Err(_) => eprintln!("kinetoscope: the recording was lost: its handler panicked"),
            Ok(Ok(Some(recording))) if !is_kept && recording.statistics.records > 0 => {
                eprintln!("kinetoscope: a recording was lost: its profiler was dropped without `stop`");
            }
            Ok(Ok(_)) => {}
        }
    }
}
