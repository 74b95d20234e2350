//! Whether a trace can answer a question: a verdict for each kind of question, with the reasons.
//!
//! Every reason has a rule with a fixed threshold. A reason that leaves an answer usable makes the verdict `limited`; one
//! that does not makes it `unfit`.

mod facts;
mod rules;

use self::facts::Count;
use crate::analysis::context::Analysis;
use crate::analysis::device::steps::{Step, steps};
use crate::analysis::query::options::{Opt, options};
use crate::analysis::query::question::Question;
use crate::analysis::query::value::ValueKind;
use crate::analysis::query::{Answer, Input, Query};
use crate::base::error::Error;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, Rows, Shape, columns, record};
use crate::base::words::{Word, words};
use crate::trace::Trace;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

words! {
    "FitnessVerdict"
    /// Whether a question can be answered.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Verdict {
        /// It can.
        Good = "good",
        /// It can, except for what the reasons name.
        Limited = "limited",
        /// It cannot.
        Unfit = "unfit",
    }
}

words! {
    "FitnessCode"
    /// A reason why a question cannot be answered, or not completely.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum ReasonCode {
        /// No operators were recorded.
        NoOperators = "no_operators",
        /// Work was launched, and none was recorded.
        NoDeviceWork = "no_device_work",
        /// No device was used, or none was recorded.
        NoDevice = "no_device",
        /// No collective was recorded.
        NoCommunication = "no_communication",
        /// No memory events were recorded.
        NoMemory = "no_memory",
        /// Devices were used, and memory events are those of the CPU.
        HostMemoryOnly = "host_memory_only",
        /// No steps were recorded.
        NoSteps = "no_steps",
        /// Launch calls have no device work.
        LaunchesWithoutWork = "launches_without_work",
        /// Device work is linked to no launch call.
        WorkWithoutLaunch = "work_without_launch",
        /// The profiler left out kinds of activity.
        Filtered = "filtered",
        /// Parts of the file were lost.
        Lost = "lost",
        /// The recording was paused.
        Paused = "paused",
        /// Devices still did work from before the recording when it began.
        BeforeRecording = "before_recording",
        /// Most calls between the recorded ones are missing.
        Sampled = "sampled",
        /// Kernels were run again and again to read hardware counters.
        ProfilerReplay = "profiler_replay",
        /// CUDA graphs hide the operators of device work.
        Graphs = "graphs",
        /// What shows the operators of device work, if captures of CUDA graphs do.
        Attribution = "attribution",
        /// Device work starts before its launch.
        Clocks = "clocks",
        /// One collective has nearly all communication time.
        OneCollective = "one_collective",
        /// The other ranks are not part of the trace, or their number is not stated.
        OtherRanks = "other_ranks",
        /// Collectives do not state their process groups.
        UnnamedGroups = "unnamed_groups",
        /// Numbers of steps are missing.
        MissingSteps = "missing_steps",
        /// The first or the last step has much less work than the others.
        CutStep = "cut_step",
        /// The first step took much longer than the others.
        ColdStep = "cold_step",
        /// The properties of a device cannot be right.
        DeviceProperties = "device_properties",
        /// A rule of PyTorch's trace validator is violated.
        Validator = "validator",
    }
}

impl ReasonCode {
    /// Whether the trace has nothing that the question is about, and nothing shows that it should.
    pub fn is_absence(self) -> bool {
        use ReasonCode::{NoCommunication, NoDevice, NoMemory, NoOperators, NoSteps};
        matches!(self, NoOperators | NoDevice | NoCommunication | NoMemory | NoSteps)
    }
}

/// A reason for a verdict.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reason {
    /// The kind.
    pub code: ReasonCode,
    /// What it makes of the verdict.
    pub verdict: Verdict,
    /// What was found, in one sentence.
    pub message: String,
    /// How many events it is about.
    pub count: u64,
    /// The index of the first of them.
    pub first: Option<usize>,
    /// The questions that it is about.
    pub questions: &'static [Question],
}

impl Reason {
    fn new(
        code: ReasonCode,
        verdict: Verdict,
        questions: &'static [Question],
        events: Count,
        message: String,
    ) -> Reason {
        let first = events.first.map(Row::index);
        Reason { code, verdict, message, count: events.count, first, questions }
    }
}

/// Whether a trace can answer one kind of question.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fitness {
    /// The question.
    pub question: Question,
    /// The verdict.
    pub verdict: Verdict,
    /// The reasons, the most serious first.
    pub reasons: Vec<Reason>,
}

impl Fitness {
    /// Returns the messages of the reasons in one line.
    pub(crate) fn because(&self) -> String {
        let messages: Vec<&str> = self.reasons.iter().map(|reason| reason.message.as_str()).collect();
        messages.join("; ")
    }

    /// Whether the question cannot be answered.
    pub(crate) fn is_unfit(&self) -> bool {
        self.verdict == Verdict::Unfit
    }

    fn reasons_json(&self) -> Value {
        self.reasons.iter().map(reason).collect()
    }

    /// Whether the trace should be able to answer the question, and cannot. Of questions that are not required, only
    /// those count that the trace has events for.
    pub fn fails(&self, required: &[Question]) -> bool {
        let is_damaged = |reason: &Reason| reason.verdict == Verdict::Unfit && !reason.code.is_absence();
        let counts = match required {
            [] => self.reasons.iter().any(is_damaged),
            required => required.contains(&self.question),
        };
        counts && self.verdict == Verdict::Unfit
    }
}

/// Returns the fitness of a trace for every kind of question; `steps` are its steps.
pub fn fitness(analysis: &Analysis<'_>, steps: &[Step]) -> Vec<Fitness> {
    let reasons = rules::reasons(analysis, steps);
    let answer = |question: Question| {
        let mut question_reasons: Vec<Reason> =
            reasons.iter().filter(|reason| reason.questions.contains(&question)).cloned().collect();
        sort_by_key(&mut question_reasons, |reason| (descending(reason.verdict as i64), 0));
        let verdict = question_reasons.first().map_or(Verdict::Good, |reason| reason.verdict);
        Fitness { question, verdict, reasons: question_reasons }
    };
    Question::ALL.map(answer).into()
}

/// Whether a trace shows why devices are idle, or what the host did instead. Clocks that differ by microseconds leave most of
/// that visible.
pub(crate) fn shows_idle(verdicts: &[Fitness]) -> bool {
    !is_unfit_for_idle(verdicts, &[ReasonCode::Clocks, ReasonCode::NoDevice])
}

/// Whether a replay shows what changes would save: it depends on when work was launched.
pub(crate) fn shows_savings(verdicts: &[Fitness]) -> bool {
    !is_unfit_for_idle(verdicts, &[ReasonCode::NoDevice])
}

/// Whether a trace is unfit for the question of idle time, for other reasons than these.
fn is_unfit_for_idle(verdicts: &[Fitness], except: &[ReasonCode]) -> bool {
    let idle = verdicts.iter().find(|fitness| fitness.question == Question::Idle);
    let is_cause = |reason: &Reason| reason.verdict == Verdict::Unfit && !except.contains(&reason.code);
    idle.is_some_and(|idle| idle.reasons.iter().any(is_cause))
}

record! {
    static REASON = "FitnessReason": fn reason(reason: &Reason) [
        Column::word("code", "", &ReasonCode::VOCABULARY, "The kind of reason.") => reason.code.as_str(),
        Column::text("message", "", "What was found.") => reason.message.as_str(),
        Column::int("count", "", "The number of events that it is about.") => reason.count as i64,
        Column::int("first_event", "", "The index of the first of them.").nullable() => reason.first,
    ]
}

options! {
    /// Options of `fitness`.
    pub struct FitnessOptions {
        /// The questions that have to be answered; if empty, those that the trace has events for.
        pub require: Vec<String> = Opt::new(
            "require",
            "LIST",
            ValueKind::Texts,
            "Return exit code 1 unless these questions can be answered [default: those with events in the trace]",
        ),
    }
}

/// The query `fitness`.
pub const FITNESS: Query = Query::new(
    "fitness",
    "Fitness: which questions the trace can answer, and why not others",
    COLUMNS,
    |trace, request| {
        let options: FitnessOptions = request.typed();
        let required = options.questions()?;
        let analysis = Analysis::new(trace);
        let answers = fitness(&analysis, &steps(&analysis, &[]));
        let failed = answers.iter().any(|answer| answer.fails(&required));
        Ok(Answer { failed, ..fitness_rows(&answers).into() })
    },
)
.examples(&["run.json", "ranks/ --require idle,communication --format json"])
.options::<FitnessOptions>()
.inputs(&[Input::KernelRules, Input::StepRules, Input::Captures, Input::Provenance]);

impl FitnessOptions {
    /// Returns the questions.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] with the first that is none.
    fn questions(&self) -> Result<Vec<Question>, Error> {
        let question = |text: &String| {
            Question::from_option_value(text).ok_or_else(|| {
                let words = Question::VOCABULARY.option_values();
                Error::BadOption(format!("require: {text:?} is none of {words}"))
            })
        };
        self.require.iter().map(question).collect()
    }
}

impl Query {
    /// Returns the verdicts on a trace that make this answer unfit: the trace should have what it needs, and does not. If
    /// the answer has a hint because it has no rows, it is also unfit if the trace has nothing that it is about.
    pub fn unfit(&self, trace: &Trace, answer: &Answer) -> Vec<Fitness> {
        if self.questions.is_empty() {
            return Vec::new();
        }
        let analysis = Analysis::new(trace);
        let verdicts = fitness(&analysis, &steps(&analysis, &[]));
        let required = if answer.hint.is_some() { self.questions } else { &[] };
        let is_unfit =
            |fitness: &Fitness| self.questions.contains(&fitness.question) && fitness.fails(required);
        verdicts.into_iter().filter(is_unfit).collect()
    }
}

const QUESTION: Column = Column::word("question", "Question", &Question::VOCABULARY, "The kind of question.");
const VERDICT: Column =
    Column::word("verdict", "Verdict", &Verdict::VOCABULARY, "Whether the trace can answer it.");
const REASONS: Column =
    Column::json("reasons", "", Shape::Records(&REASON), "The reasons, the most serious first.");

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(fitness: &Fitness) [
        QUESTION => fitness.question.as_str(),
        VERDICT => fitness.verdict.as_str(),
        Column::text("because", "Because", "The messages of all reasons.").sentence().nullable() =>
            (!fitness.reasons.is_empty()).then(|| fitness.because()),
        REASONS => fitness.reasons_json(),
    ]
}

record! {
    /// The fitness for one question, in the summary.
    pub(super) static FITNESS_RECORD = "Fitness": pub(super) fn fitness_json(fitness: &Fitness) [
        QUESTION => fitness.question.as_str(),
        VERDICT => fitness.verdict.as_str(),
        REASONS => fitness.reasons_json(),
    ]
}

/// Returns the fitness as rows.
pub(crate) fn fitness_rows(answers: &[Fitness]) -> Rows {
    Rows::from_cells(COLUMNS, answers.iter().map(row))
}
