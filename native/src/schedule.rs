//! `torch.profiler.schedule`: which steps are recorded, and what a profiler does between two steps.
//!
//! A cycle is `wait` steps in which nothing is done, `warmup` steps of tracing whose results are dropped, and `active`
//! steps that are recorded. It is repeated `repeat` times, or until the profiler stops. `skip_first` steps come before
//! the first cycle.

use crate::error::RecordError;

/// What a profiler does in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProfilerAction {
    /// Nothing.
    None = 0,
    /// Traces, and drops the results.
    Warmup = 1,
    /// Records.
    Record = 2,
    /// Records, and passes the recording to the handlers at the end of the step.
    RecordAndSave = 3,
}

impl ProfilerAction {
    /// All actions, in the order of PyTorch's numbers.
    pub const ALL: [ProfilerAction; 4] =
        [ProfilerAction::None, ProfilerAction::Warmup, ProfilerAction::Record, ProfilerAction::RecordAndSave];

    /// Returns PyTorch's name.
    pub fn as_str(self) -> &'static str {
        match self {
            ProfilerAction::None => "NONE",
            ProfilerAction::Warmup => "WARMUP",
            ProfilerAction::Record => "RECORD",
            ProfilerAction::RecordAndSave => "RECORD_AND_SAVE",
        }
    }
}

/// The arguments of PyTorch's `schedule()`, in steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleArgs {
    /// Idle steps at the start of a cycle.
    pub wait: i64,
    /// Warm-up steps, after the idle ones.
    pub warmup: i64,
    /// Recorded steps; at least 1.
    pub active: i64,
    /// The number of cycles; 0 for no limit.
    pub repeat: i64,
    /// Idle steps before the first cycle.
    pub skip_first: i64,
    /// Whether the first cycle leaves out its `wait` steps.
    pub skip_first_wait: bool,
}

/// A validated schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    wait: u64,
    warmup: u64,
    active: u64,
    repeat: u64,
    skip_first: u64,
    skip_first_wait: bool,
}

impl Schedule {
    /// Validates the arguments.
    ///
    /// # Errors
    /// Returns [`RecordError::BadSchedule`] if `active` is less than 1 or another argument is negative, as torch does.
    pub fn new(args: ScheduleArgs) -> Result<Schedule, RecordError> {
        let ScheduleArgs { wait, warmup, active, repeat, skip_first, skip_first_wait } = args;
        if active < 1 || [wait, warmup, repeat, skip_first].iter().any(|&n| n < 0) {
            return Err(RecordError::BadSchedule(format!(
                "active must be at least 1 and all other arguments at least 0, not wait={wait}, \
                 warmup={warmup}, active={active}, repeat={repeat}, skip_first={skip_first}"
            )));
        }
        let [wait, warmup, active, repeat, skip_first] =
            [wait, warmup, active, repeat, skip_first].map(i64::unsigned_abs);
        Ok(Schedule { wait, warmup, active, repeat, skip_first, skip_first_wait })
    }

    /// Returns a warning about a schedule that is valid but may mislead.
    pub fn warning(&self) -> Option<&'static str> {
        (self.warmup == 0).then_some(
            "without warm-up steps, the first recorded steps include the cost of starting the tracer",
        )
    }

    /// Returns the action of a step, counted from 0.
    pub fn action(&self, step: u64) -> ProfilerAction {
        let Some(after_skip) = step.checked_sub(self.skip_first) else { return ProfilerAction::None };
        let skipped = if self.skip_first_wait { self.wait } else { 0 };
        let step = u128::from(after_skip) + u128::from(skipped);
        let (wait, warmup) = (u128::from(self.wait), u128::from(self.warmup));
        let cycle = wait + warmup + u128::from(self.active);
        if self.repeat > 0 && step / cycle >= u128::from(self.repeat) {
            return ProfilerAction::None;
        }
        match step % cycle {
            at if at < wait => ProfilerAction::None,
            at if at < wait + warmup => ProfilerAction::Warmup,
            at if at + 1 == cycle => ProfilerAction::RecordAndSave,
            _ => ProfilerAction::Record,
        }
    }
}

/// An operation of the profiler between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transition {
    /// Prepares tracing.
    PrepareTrace,
    /// Starts recording.
    StartTrace,
    /// Stops recording.
    StopTrace,
    /// Passes the recording to the handlers: PyTorch's `on_trace_ready`.
    TraceReady,
}

impl Transition {
    /// Returns PyTorch's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Transition::PrepareTrace => "prepare_trace",
            Transition::StartTrace => "start_trace",
            Transition::StopTrace => "stop_trace",
            Transition::TraceReady => "trace_ready",
        }
    }
}

/// Returns the operations between the actions of two consecutive steps, in order: PyTorch's `action_map`. `from` is
/// `None` before the first step, `to` is `None` after the last one.
pub fn transitions(from: Option<ProfilerAction>, to: Option<ProfilerAction>) -> &'static [Transition] {
    use ProfilerAction::{None as Nothing, Record, RecordAndSave, Warmup};
    use Transition::{PrepareTrace, StartTrace, StopTrace, TraceReady};
    match (from, to) {
        (None | Some(Nothing), Some(Warmup)) => &[PrepareTrace],
        (None | Some(Nothing), Some(Record | RecordAndSave)) => &[PrepareTrace, StartTrace],
        // A prepared tracer is started and stopped, so that it is empty before it becomes idle.
        (Some(Warmup), None | Some(Nothing)) => &[StartTrace, StopTrace],
        (Some(Warmup), Some(Record | RecordAndSave)) => &[StartTrace],
        (Some(Record), Some(Nothing | Warmup)) => &[StopTrace],
        (Some(Record | RecordAndSave), None) | (Some(RecordAndSave), Some(Nothing)) => {
            &[StopTrace, TraceReady]
        }
        (Some(RecordAndSave), Some(Warmup)) => &[StopTrace, TraceReady, PrepareTrace],
        (Some(RecordAndSave), Some(Record | RecordAndSave)) => {
            &[StopTrace, TraceReady, PrepareTrace, StartTrace]
        }
        _ => &[],
    }
}

/// Returns whether traced steps are lost because `to` follows `from`. A custom schedule function can return such a
/// sequence.
pub fn is_misordered(from: ProfilerAction, to: ProfilerAction) -> bool {
    use ProfilerAction::{None as Nothing, Record, Warmup};
    matches!((from, to), (Warmup | Record, Nothing) | (Record, Warmup))
}
