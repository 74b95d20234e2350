//! When to record: torch.profiler's schedule, and what a profiler does between two of its steps.
//!
//! A cycle is `wait` steps of nothing, `warmup` steps of tracing whose results are dropped, and `active` steps that are
//! recorded. It is repeated `repeat` times, or for ever; `skip_first` steps come before the first one.

use crate::error::RecordError;

/// What a profiler does in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProfilerAction {
    /// Nothing.
    None = 0,
    /// Traces, and drops what it traced.
    Warmup = 1,
    /// Records.
    Record = 2,
    /// Records, and hands the trace over at the end of the step.
    RecordAndSave = 3,
}

impl ProfilerAction {
    /// Every action, in the order of torch's numbers.
    pub const ALL: [ProfilerAction; 4] =
        [ProfilerAction::None, ProfilerAction::Warmup, ProfilerAction::Record, ProfilerAction::RecordAndSave];

    /// torch's name.
    pub fn as_str(self) -> &'static str {
        match self {
            ProfilerAction::None => "NONE",
            ProfilerAction::Warmup => "WARMUP",
            ProfilerAction::Record => "RECORD",
            ProfilerAction::RecordAndSave => "RECORD_AND_SAVE",
        }
    }
}

/// The arguments of torch's `schedule()`, in steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleArgs {
    /// Steps of nothing at the start of a cycle.
    pub wait: i64,
    /// Steps of warm-up after them.
    pub warmup: i64,
    /// Steps that are recorded; at least 1.
    pub active: i64,
    /// How many cycles; 0 for no end.
    pub repeat: i64,
    /// Steps before the first cycle.
    pub skip_first: i64,
    /// The first cycle does not wait.
    pub skip_first_wait: bool,
}

/// A schedule whose arguments were checked.
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
    /// Checks the arguments.
    ///
    /// # Errors
    /// [`RecordError::BadSchedule`] under torch's conditions: all are at least 0, `active` at least 1.
    pub fn new(args: ScheduleArgs) -> Result<Schedule, RecordError> {
        let ScheduleArgs { wait, warmup, active, repeat, skip_first, skip_first_wait } = args;
        if active < 1 || [wait, warmup, repeat, skip_first].iter().any(|&n| n < 0) {
            return Err(RecordError::BadSchedule(format!(
                "a schedule needs active of at least 1 and the others of at least 0, not wait={wait}, \
                 warmup={warmup}, active={active}, repeat={repeat}, skip_first={skip_first}"
            )));
        }
        let [wait, warmup, active, repeat, skip_first] =
            [wait, warmup, active, repeat, skip_first].map(i64::unsigned_abs);
        Ok(Schedule { wait, warmup, active, repeat, skip_first, skip_first_wait })
    }

    /// What the user should know about a schedule that is allowed.
    pub fn warning(&self) -> Option<&'static str> {
        (self.warmup == 0)
            .then_some("without warm-up, the first recorded steps also show what tracing costs to start")
    }

    /// What is done in a step, counted from 0.
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

/// What a profiler has to do when one step ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transition {
    /// Gets tracing ready.
    PrepareTrace,
    /// Begins to record.
    StartTrace,
    /// Ends the recording.
    StopTrace,
    /// Hands the recording over: torch's `on_trace_ready`.
    TraceReady,
}

impl Transition {
    /// torch's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Transition::PrepareTrace => "prepare_trace",
            Transition::StartTrace => "start_trace",
            Transition::StopTrace => "stop_trace",
            Transition::TraceReady => "trace_ready",
        }
    }
}

/// What has to be done between two actions, in order; before the first step `from` is `None`, after the last one `to` is.
pub fn transitions(from: Option<ProfilerAction>, to: Option<ProfilerAction>) -> &'static [Transition] {
    use ProfilerAction::{None as Nothing, Record, RecordAndSave, Warmup};
    use Transition::{PrepareTrace, StartTrace, StopTrace, TraceReady};
    match (from, to) {
        (None | Some(Nothing), Some(Warmup)) => &[PrepareTrace],
        (None | Some(Nothing), Some(Record | RecordAndSave)) => &[PrepareTrace, StartTrace],
        // A tracer that was made ready is emptied before it rests.
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

/// Whether a schedule of the user's own loses what was traced, since one action is followed by the other.
pub fn is_misordered(from: ProfilerAction, to: ProfilerAction) -> bool {
    use ProfilerAction::{None as Nothing, Record, Warmup};
    matches!((from, to), (Warmup | Record, Nothing) | (Record, Warmup))
}
