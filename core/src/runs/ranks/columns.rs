//! The columns of the answer of `ranks`, and which of them each kind of row fills.

use super::matching::MatchedBy;
use super::operation::Operation;
use super::phases::Phase;
use super::run::NoteCode;
use super::structure::Parallelism;
use crate::analysis::overview::fitness::Verdict;
use crate::analysis::query::question::Question;
use crate::base::rows::{Column, Shape, Variant};
use crate::base::words::words;

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

/// The columns of the answer.
pub(crate) const COLUMNS: &[Column] = &[
    Column::word("kind", "Kind", &RowKind::VOCABULARY, "What the row is about."),
    Column::int("rank", "Rank", "The rank.").nullable(),
    Column::json("ranks", "", Shape::Values, "The ranks: of the run, of the group, or those that took part."),
    Column::int("world_size", "", "The number of ranks of the run, as the traces state it.").nullable(),
    Column::json("missing", "", Shape::Values, "The ranks without a trace."),
    Column::text("host", "", "The machine of the rank.").nullable(),
    Column::text("trace", "", "The first trace of the rank.").nullable(),
    Column::int("windows", "", "The number of recordings of the rank.").nullable(),
    Column::int("class", "", "The number of the class of ranks that behave alike.").nullable(),
    Column::word("code", "", &NoteCode::VOCABULARY, "The kind of note.").nullable(),
    Column::word("question", "", &Question::VOCABULARY, "A kind of question about each trace.").nullable(),
    Column::word("verdict", "", &Verdict::VOCABULARY, "Whether the traces of the `ranks` can answer it.").nullable(),
    Column::text("message", "Message", "The note, the reason for the verdict, or what the straggler did more than the others.").nullable(),
    Column::word("phase", "Phase", &Phase::VOCABULARY, "The phase in which the rank or the machine was late.").nullable(),
    Column::json("steps", "", Shape::Values, "The numbers of the steps in which it was late; empty without profiler steps."),
    Column::ns("cost_ns", "Cost", "What the others waited for because of it, summed over the steps.").nullable(),
    Column::bool("persistent", "", "Whether it was late in most steps.").nullable(),
    Column::int("step", "Step", "The number of the step.").nullable(),
    Column::ns("wall_ns", "Wall", "The time of the steps; of a step, that of the longest rank. The six phases of a rank add up to it.").nullable(),
    Column::ns("data_loading_ns", "", "The time of data loading.").nullable(),
    Column::ns("forward_ns", "", "The time of the forward pass.").nullable(),
    Column::ns("backward_ns", "", "The time of the backward pass.").nullable(),
    Column::ns("optimizer_ns", "", "The time of the optimizer.").nullable(),
    Column::ns("communication_ns", "", "The exposed time of communication, with waiting.").nullable(),
    Column::ns("other_ns", "", "The remaining time.").nullable(),
    Column::ns("own_ns", "", "The time of the rank's own work: all phases except communication.").nullable(),
    Column::ns("late_ns", "", "How much later than the median of the others the rank arrived, summed over the collectives of the step.").nullable(),
    Column::ns("waited_ns", "Waits", "What the rank waited for others, summed over its collectives; of a step or of collectives, summed over the ranks. Waits at the same time are counted each.").nullable(),
    Column::share("imbalance", "", "The largest own work of a rank beyond the median of all ranks, as a share of the median.").nullable(),
    Column::int("last", "", "The number of collectives in which the rank arrived last.").nullable(),
    Column::int("matched", "", "The number of matched collectives.").nullable(),
    Column::share("bubble", "", "Of a stage of a pipeline: the share of its steps in which it only communicated: it waited for other stages, or sent and received.").nullable(),
    Column::ns("exposed_communication_ns", "", "The time in which its devices only communicated; null without devices.").nullable(),
    Column::ns("idle_ns", "", "The idle time of its devices; null without devices.").nullable(),
    Column::bytes("peak_bytes", "", "The largest peak of allocated memory of its devices; null if it was not recorded.").nullable(),
    Column::ns("start_skew_ns", "", "How much later than the first rank it began to record.").nullable(),
    Column::ns("offset_ns", "", "The offset of its clock against that of the reference rank, in the middle of what they have in common; null if refused.").nullable(),
    Column::float("drift_ppm", "", "The drift of its clock, in parts per million; 0 if it is not distinguishable from 0.").nullable(),
    Column::unix_ns("at_ns", "", "The time of the rank's clock at which the offset holds.").nullable(),
    Column::ns("error_ns", "", "How far the offset may be off.").nullable(),
    Column::text("method", "", "How the clock was fitted; `reference` for the rank that the others are compared with.").nullable(),
    Column::text("refused", "", "Why the clock could not be fitted; null if it could.").nullable(),
    Column::text("group", "Group", "The name of the process group; the stream of its kernels if the trace does not name it.").nullable(),
    Column::text("description", "", "The description of the process group.").nullable(),
    Column::word("parallelism", "", &Parallelism::VOCABULARY, "What the process group is for.").nullable(),
    Column::bool("stated", "", "Whether the description of the group states its parallelism; otherwise it is inferred from its traffic.").nullable(),
    Column::int("seq", "Seq", "The number of the collective in its group; null if the traces have none.").nullable(),
    Column::word("name", "Name", &Operation::VOCABULARY, "The collective.").nullable(),
    Column::bytes("bytes", "Bytes", "The size of the input or the output, whichever is larger; of a group, the sum.").nullable(),
    Column::unix_ns("start_ns", "", "When the first rank arrived, on the reference clock.").nullable(),
    Column::json("wait_ns", "", Shape::Values, "The wait of each of the `ranks`, in ns."),
    Column::json("transfer_ns", "", Shape::Values, "The transfer of each of the `ranks`, in ns."),
    Column::int("last_rank", "", "The rank that arrived last.").nullable(),
    Column::word("last_phase", "", &Phase::VOCABULARY, "What that rank mostly did since its previous collective.").nullable(),
    Column::bool("counted", "", "Whether all ranks recorded when the first one arrived; otherwise the waits show when the recordings began.").nullable(),
    Column::word("matched_by", "", &MatchedBy::VOCABULARY, "How the calls of the ranks were matched.").nullable(),
    Column::share("confidence", "", "The share of calls that could be matched; 1 for a sequence number or an id.").nullable(),
    Column::int("count", "Count", "The number of collectives.").nullable(),
    Column::int("nodes", "", "The number of machines of the ranks.").nullable(),
    Column::ns("usual_transfer_ns", "", "The median transfer.").nullable(),
    Column::ns("others_transfer_ns", "", "The median transfer of the same kind and size in other groups.").nullable(),
    Column::rate("bytes_per_second", "B/s", "The algorithm bandwidth: the size divided by the median transfer.").nullable(),
    Column::rate("bus_bytes_per_second", "", "The bus bandwidth, by the factors of nccl-tests.").nullable(),
];

/// The columns of the phases, in the order of [`Phase`].
pub(crate) const PHASES: [&str; 6] =
    ["data_loading_ns", "forward_ns", "backward_ns", "optimizer_ns", "communication_ns", "other_ns"];

/// The columns that each kind of row fills.
pub(crate) const VARIANTS: &[Variant] = &[
    Variant { name: "Run", kinds: &["run"], filled: &["matched"], nullable: &["world_size"] },
    Variant { name: "Note", kinds: &["note"], filled: &["code", "message"], nullable: &[] },
    Variant {
        name: "Fitness",
        kinds: &["fitness"],
        filled: &["question", "verdict", "message"],
        nullable: &[],
    },
    Variant {
        name: "Straggler",
        kinds: &["straggler"],
        filled: &["rank", "phase", "cost_ns", "persistent"],
        nullable: &["host", "message"],
    },
    Variant {
        name: "SlowNode",
        kinds: &["slow_node"],
        filled: &["host", "phase", "cost_ns", "persistent"],
        nullable: &[],
    },
    Variant {
        name: "SlowLink",
        kinds: &["slow_link"],
        filled: &["group", "name", "bytes", "count", "cost_ns", "usual_transfer_ns", "others_transfer_ns"],
        nullable: &["description"],
    },
    Variant {
        name: "Clock",
        kinds: &["clock"],
        filled: &["rank"],
        nullable: &["offset_ns", "drift_ppm", "at_ns", "error_ns", "matched", "method", "refused"],
    },
    Variant {
        name: "Rank",
        kinds: &["rank"],
        filled: &[
            "rank",
            "trace",
            "windows",
            "class",
            "wall_ns",
            PHASES[0],
            PHASES[1],
            PHASES[2],
            PHASES[3],
            PHASES[4],
            PHASES[5],
            "own_ns",
            "waited_ns",
            "last",
            "matched",
            "start_skew_ns",
        ],
        nullable: &["host", "bubble", "exposed_communication_ns", "idle_ns", "peak_bytes"],
    },
    Variant {
        name: "Group",
        kinds: &["group"],
        filled: &["group", "parallelism", "stated", "matched", "bytes"],
        nullable: &["description"],
    },
    Variant {
        name: "Bandwidth",
        kinds: &["bandwidth"],
        filled: &["group", "name", "bytes", "count", "nodes", "waited_ns", "usual_transfer_ns"],
        nullable: &["description", "bytes_per_second", "bus_bytes_per_second"],
    },
    Variant {
        name: "Step",
        kinds: &["step"],
        filled: &["step", "wall_ns", "waited_ns"],
        nullable: &["rank", "phase", "imbalance"],
    },
    Variant {
        name: "RankStep",
        kinds: &["rank_step"],
        filled: &[
            "rank",
            "step",
            "wall_ns",
            PHASES[0],
            PHASES[1],
            PHASES[2],
            PHASES[3],
            PHASES[4],
            PHASES[5],
            "own_ns",
            "late_ns",
            "waited_ns",
        ],
        nullable: &[],
    },
    Variant {
        name: "Collective",
        kinds: &["collective"],
        filled: &[
            "group",
            "name",
            "start_ns",
            "last_rank",
            "last_phase",
            "counted",
            "matched_by",
            "confidence",
        ],
        nullable: &["description", "seq", "bytes", "step"],
    },
];
