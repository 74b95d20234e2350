//! The answer of `ranks` as rows of several kinds.

mod late;
mod ranks;
mod traffic;

use super::findings::{Filter, Findings};
use super::fitness::{Shared, shared};
use super::phases::{Phase, Times};
use super::run::{Note, NoteCode, Run};
use crate::analysis::overview::fitness::Verdict;
use crate::analysis::query::question::Question;
use crate::base::rows::{Column, Kinds, Rows, RowsOfKinds, Shape, Variant, columns};
use crate::base::words::words;
use serde_json::Value;

words! {
    "RanksKind"
    /// The kind of a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum RowKind {
        /// The run.
        Run = "run",
        /// Something about its traces.
        Note = "note",
        /// A question that traces cannot answer, or not completely.
        Fitness = "fitness",
        /// A rank that others waited for.
        Straggler = "straggler",
        /// A machine whose ranks the others waited for.
        SlowNode = "slow_node",
        /// A group of ranks whose transfers are slow.
        SlowLink = "slow_link",
        /// The clock of a rank.
        Clock = "clock",
        /// A rank.
        Rank = "rank",
        /// A process group.
        Group = "group",
        /// The collectives of one group, kind and size.
        Bandwidth = "bandwidth",
        /// A step.
        Step = "step",
        /// A rank in a step.
        RankStep = "rank_step",
        /// A collective.
        Collective = "collective",
    }
}

/// The kinds of rows.
pub(crate) const KINDS: Kinds = Kinds {
    column: Column::word("kind", "Kind", &RowKind::VOCABULARY, "What the row is about."),
    variants: &[
        Variant { name: "Run", kinds: &[RowKind::Run.as_str()], columns: RUN },
        Variant { name: "Note", kinds: &[RowKind::Note.as_str()], columns: NOTE },
        Variant { name: "Fitness", kinds: &[RowKind::Fitness.as_str()], columns: FITNESS },
        Variant { name: "Straggler", kinds: &[RowKind::Straggler.as_str()], columns: late::STRAGGLER },
        Variant { name: "SlowNode", kinds: &[RowKind::SlowNode.as_str()], columns: late::SLOW_NODE },
        Variant { name: "SlowLink", kinds: &[RowKind::SlowLink.as_str()], columns: traffic::SLOW_LINK },
        Variant { name: "Clock", kinds: &[RowKind::Clock.as_str()], columns: late::CLOCK },
        Variant { name: "Rank", kinds: &[RowKind::Rank.as_str()], columns: ranks::RANK },
        Variant { name: "Group", kinds: &[RowKind::Group.as_str()], columns: traffic::GROUP },
        Variant { name: "Bandwidth", kinds: &[RowKind::Bandwidth.as_str()], columns: traffic::BANDWIDTH },
        Variant { name: "Step", kinds: &[RowKind::Step.as_str()], columns: ranks::STEP },
        Variant { name: "RankStep", kinds: &[RowKind::RankStep.as_str()], columns: ranks::RANK_STEP },
        Variant { name: "Collective", kinds: &[RowKind::Collective.as_str()], columns: traffic::COLLECTIVE },
    ],
};

/// Columns of several kinds of rows.
mod shared_columns {
    use super::{Column, Phase, Shape};

    pub(super) const RANK_NUMBER: Column = Column::int("rank", "Rank", "The rank.");
    pub(super) const RANKS: Column = Column::json(
        "ranks",
        "",
        Shape::Numbers,
        "The ranks: of the run, of the group, or those that took part.",
    );
    pub(super) const HOST: Column = Column::text("host", "", "The machine of the rank.");
    pub(super) const MESSAGE: Column = Column::text(
        "message",
        "Message",
        "The note, the reason for the verdict, or what the straggler did more than the others.",
    )
    .sentence();
    pub(super) const PHASE: Column = Column::word(
        "phase",
        "Phase",
        &Phase::VOCABULARY,
        "The phase in which the rank or the machine was late.",
    );
    pub(super) const STEPS: Column = Column::json(
        "steps",
        "",
        Shape::Numbers,
        "The numbers of the steps in which it was late; empty without profiler steps.",
    );
    pub(super) const COST: Column =
        Column::ns("cost_ns", "Cost", "What the others waited for because of it, summed over the steps.");
    pub(super) const PERSISTENT: Column =
        Column::bool("persistent", "", "Whether it was late in most steps.");
    pub(super) const STEP_NUMBER: Column = Column::int("step", "Step", "The number of the step.");
    pub(super) const WALL: Column = Column::ns(
        "wall_ns",
        "Wall",
        "The time of the steps; of a step, that of the longest rank. The six phases of a rank add up to it.",
    );
    pub(super) const DATA_LOADING: Column = Column::ns("data_loading_ns", "", "The time of data loading.");
    pub(super) const FORWARD: Column = Column::ns("forward_ns", "", "The time of the forward pass.");
    pub(super) const BACKWARD: Column = Column::ns("backward_ns", "", "The time of the backward pass.");
    pub(super) const OPTIMIZER: Column = Column::ns("optimizer_ns", "", "The time of the optimizer.");
    pub(super) const COMMUNICATION: Column =
        Column::ns("communication_ns", "", "The exposed time of communication, with waiting.");
    pub(super) const OTHER: Column = Column::ns("other_ns", "", "The remaining time.");
    pub(super) const OWN: Column =
        Column::ns("own_ns", "", "The time of the rank's own work: all phases except communication.");
    pub(super) const WAITED: Column = Column::ns(
        "waited_ns",
        "Waits",
        "What the rank waited for others, summed over its collectives; of a step or of collectives, summed over the \
         ranks. Waits at the same time are counted each.",
    );
    pub(super) const LATE: Column = Column::ns(
        "late_ns",
        "",
        "How much later than the median of the others the rank arrived, summed over its collectives, or over those of a step.",
    );
    pub(super) const MATCHED: Column = Column::int("matched", "", "The number of matched collectives.");
    pub(super) const GROUP_NAME: Column = Column::text(
        "group",
        "Group",
        "The name of the process group; the stream of its kernels if the trace does not name it.",
    );
    pub(super) const DESCRIPTION: Column =
        Column::text("description", "", "The description of the process group.").nullable();
    pub(super) const BYTES: Column = Column::bytes(
        "bytes",
        "Bytes",
        "The size of the input or the output, whichever is larger; of a group, the sum.",
    );
    pub(super) const COUNT: Column = Column::int("count", "Count", "The number of collectives.");
    pub(super) const USUAL_TRANSFER: Column = Column::ns("usual_transfer_ns", "", "The median transfer.");
}

use shared_columns::{MATCHED, MESSAGE, RANKS};

/// Returns the findings as rows.
pub(crate) fn rows(findings: &Findings<'_>, filter: Filter) -> Rows {
    let mut rows = RowsOfKinds::new(&KINDS);
    rows.push(RowKind::Run.as_str(), run(findings.run, findings.matched.len()));
    for remark in &findings.notes {
        rows.push(RowKind::Note.as_str(), note(remark));
    }
    let is_about = |shared: &Shared| shared.ranks.iter().any(|&rank| filter.has_rank(rank));
    for common in shared(findings.run).into_iter().filter(is_about) {
        rows.push(RowKind::Fitness.as_str(), fitness(common));
    }
    late::push_late(findings, filter, &mut rows);
    traffic::push_slow_links(findings, filter, &mut rows);
    late::push_clocks(findings, filter, &mut rows);
    ranks::push_ranks(findings, filter, &mut rows);
    traffic::push_groups(findings, &mut rows);
    ranks::push_steps(findings, filter, &mut rows);
    traffic::push_collectives(findings, filter, &mut rows);
    rows.finish()
}

columns! {
    const RUN: fn run(run: &Run, matched: usize) [
        RANKS => numbers(run.members.iter().map(|member| member.rank)),
        Column::int("world_size", "", "The number of ranks of the run, as the traces state it.").nullable() =>
            run.world_size,
        Column::json("missing", "", Shape::Numbers, "The ranks without a trace.") =>
            numbers(run.missing.iter().copied()),
        MATCHED => matched,
    ]
}

columns! {
    const NOTE: fn note(note: &Note) [
        Column::word("code", "", &NoteCode::VOCABULARY, "The kind of note.") => note.code.as_str(),
        MESSAGE => note.message.as_str(),
    ]
}

columns! {
    const FITNESS: fn fitness(shared: Shared) [
        RANKS => numbers(shared.ranks),
        Column::word("question", "", &Question::VOCABULARY, "A kind of question about each trace.") =>
            shared.question.as_str(),
        Column::word("verdict", "", &Verdict::VOCABULARY, "Whether the traces of the `ranks` can answer it.") =>
            shared.verdict.as_str(),
        MESSAGE => shared.because,
    ]
}

fn numbers(numbers: impl IntoIterator<Item = i64>) -> Value {
    numbers.into_iter().collect()
}

/// The longest phase, without communication if there is another one.
pub(crate) fn mostly(times: &Times) -> Phase {
    Phase::OWN
        .into_iter()
        .max_by_key(|&phase| times[phase as usize])
        .filter(|&phase| times[phase as usize] > 0)
        .unwrap_or(Phase::Communication)
}
