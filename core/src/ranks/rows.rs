//! The answer of `ranks` as rows of several kinds.

use super::findings::Findings;
use super::matching::{MatchedBy, call};
use super::operation::Operation;
use super::phases::{Phase, Times, own};
use super::run::NoteCode;
use super::step_table::StepTable;
use super::structure::Parallelism;
use crate::rows::{Cell, Column, Rows, Shape, Variant};
use crate::words::words;
use alloc::vec;
use alloc::vec::Vec;
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
        /// A rank that others waited for.
        Straggler = "straggler",
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
    Column::text("message", "Message", "The note, or what the straggler did more than the others.").nullable(),
    Column::word("phase", "Phase", &Phase::VOCABULARY, "The phase in which the rank was late.").nullable(),
    Column::json("steps", "", Shape::Values, "The numbers of the steps in which the rank was late; empty without profiler steps."),
    Column::ns("cost_ns", "Cost", "What the others waited for because of it, summed over the steps.").nullable(),
    Column::bool("persistent", "", "Whether the rank was late in most steps.").nullable(),
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
    Column::share("bubble", "", "Of a stage of a pipeline: the share of its steps in which it waited for other stages.").nullable(),
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

const PHASES: [&str; 6] =
    ["data_loading_ns", "forward_ns", "backward_ns", "optimizer_ns", "communication_ns", "other_ns"];

/// The columns that each kind of row fills.
pub(crate) const VARIANTS: &[Variant] = &[
    Variant { name: "Run", kinds: &["run"], filled: &["matched"], nullable: &["world_size"] },
    Variant { name: "Note", kinds: &["note"], filled: &["code", "message"], nullable: &[] },
    Variant {
        name: "Straggler",
        kinds: &["straggler"],
        filled: &["rank", "phase", "cost_ns", "persistent"],
        nullable: &["host", "message"],
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

/// What to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Only rows about this rank.
    pub(crate) rank: Option<i64>,
    /// Only rows about this step.
    pub(crate) step: Option<i64>,
}

impl Filter {
    pub(crate) fn has_rank(self, rank: i64) -> bool {
        self.rank.is_none_or(|wanted| wanted == rank)
    }

    pub(crate) fn has_step(self, step: i64) -> bool {
        self.step.is_none_or(|wanted| wanted == step)
    }
}

/// One row, by the keys of its columns.
struct Row(Vec<(&'static str, Cell)>);

impl Row {
    fn of(kind: RowKind) -> Row {
        Row(vec![("kind", kind.as_str().into())])
    }

    fn with(mut self, key: &'static str, cell: impl Into<Cell>) -> Row {
        self.0.push((key, cell.into()));
        self
    }

    fn ns(self, key: &'static str, ns: i64) -> Row {
        self.with(key, Cell::Ns(ns))
    }

    fn numbers(self, key: &'static str, numbers: impl IntoIterator<Item = i64>) -> Row {
        self.with(key, Cell::Json(numbers.into_iter().collect::<Value>()))
    }

    fn phases(self, phases: &Times) -> Row {
        PHASES.into_iter().zip(phases).fold(self, |row, (key, &ns)| row.ns(key, ns)).ns("own_ns", own(phases))
    }

    /// A text, or nothing if it is empty.
    fn text(self, key: &'static str, text: &str) -> Row {
        self.with(key, (!text.is_empty()).then_some(text))
    }

    fn push(self, rows: &mut Rows) {
        let mut cells: Vec<Cell> = COLUMNS.iter().map(empty).collect();
        for (key, cell) in self.0 {
            if let Some(at) = COLUMNS.iter().position(|column| column.key == key) {
                cells[at] = cell;
            }
        }
        rows.push(cells);
    }
}

fn empty(column: &Column) -> Cell {
    if column.optional { Cell::Null } else { Cell::Json(Value::Null) }
}

/// Returns the findings as rows.
pub(crate) fn rows(findings: &Findings<'_>, filter: Filter) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    run(findings, &mut rows);
    stragglers(findings, filter, &mut rows);
    slow_links(findings, filter, &mut rows);
    clocks(findings, filter, &mut rows);
    ranks(findings, filter, &mut rows);
    groups(findings, &mut rows);
    bandwidths(findings, &mut rows);
    steps(findings, filter, &mut rows);
    collectives(findings, filter, &mut rows);
    rows
}

fn run(findings: &Findings<'_>, rows: &mut Rows) {
    let run = findings.run;
    Row::of(RowKind::Run)
        .numbers("ranks", run.members.iter().map(|member| member.rank))
        .with("world_size", run.world_size)
        .numbers("missing", run.missing.iter().copied())
        .with("matched", findings.matched.len())
        .push(rows);
    for note in &findings.notes {
        Row::of(RowKind::Note)
            .with("code", note.code.as_str())
            .with("message", note.message.as_str())
            .push(rows);
    }
}

fn stragglers(findings: &Findings<'_>, filter: Filter, rows: &mut Rows) {
    for (one, evidence) in findings.stragglers.iter().zip(&findings.evidence) {
        let member = &findings.run.members[one.member];
        if !filter.has_rank(member.rank) || !one.steps.iter().any(|&step| filter.has_step(step)) {
            continue;
        }
        let steps = if findings.table.has_steps { one.steps.as_slice() } else { &[] };
        Row::of(RowKind::Straggler)
            .with("rank", member.rank)
            .text("host", member.host())
            .with("phase", one.phase.as_str())
            .numbers("steps", steps.iter().copied())
            .ns("cost_ns", one.cost_ns)
            .with("persistent", Cell::Bool(one.is_persistent))
            .with("message", evidence.as_deref())
            .push(rows);
    }
}

fn slow_links(findings: &Findings<'_>, filter: Filter, rows: &mut Rows) {
    for link in &findings.slow_links {
        let traffic = &findings.traffic[link.traffic];
        if !traffic.ranks.iter().any(|&rank| filter.has_rank(rank)) {
            continue;
        }
        let group = &findings.process_groups[traffic.group as usize];
        Row::of(RowKind::SlowLink)
            .numbers("ranks", traffic.ranks.iter().copied())
            .with("group", group.name.as_str())
            .text("description", &group.description)
            .with("name", traffic.operation.as_str())
            .with("bytes", Cell::Bytes(traffic.bytes))
            .with("count", traffic.count)
            .ns("cost_ns", link.cost_ns)
            .ns("usual_transfer_ns", traffic.usual_ns)
            .ns("others_transfer_ns", link.others_ns)
            .push(rows);
    }
}

fn clocks(findings: &Findings<'_>, filter: Filter, rows: &mut Rows) {
    for (at, (member, clock)) in findings.run.members.iter().zip(&findings.clocks.of).enumerate() {
        if !filter.has_rank(member.rank) {
            continue;
        }
        let row = Row::of(RowKind::Clock).with("rank", member.rank);
        let is_reference = at == findings.clocks.reference;
        match clock {
            Ok(clock) => row
                .with("method", if is_reference { "reference" } else { "ends of collectives" })
                .ns("offset_ns", clock.offset_ns)
                .with("drift_ppm", Cell::Float(clock.drift * 1e6))
                .with("at_ns", Cell::UnixNs(if is_reference { member.time().0 } else { clock.middle_ns }))
                .ns("error_ns", clock.error_ns)
                .with("matched", clock.collectives),
            Err(refused) => row.with("refused", refused.0.as_str()),
        }
        .push(rows);
    }
}

fn ranks(findings: &Findings<'_>, filter: Filter, rows: &mut Rows) {
    for (member, sum) in findings.run.members.iter().zip(&findings.ranks) {
        if !filter.has_rank(member.rank) {
            continue;
        }
        let devices = || member.windows.iter().flat_map(|window| &window.devices);
        let has_device = devices().next().is_some();
        let of_devices = |ns: i64| has_device.then_some(Cell::Ns(ns));
        let peak = member.windows.iter().flat_map(|window| &window.memory).map(|memory| memory.peak_bytes);
        Row::of(RowKind::Rank)
            .with("rank", member.rank)
            .text("host", member.host())
            .with("trace", member.windows.first().map(|window| window.source.as_str()))
            .with("windows", member.windows.len())
            .with("class", sum.class)
            .ns("wall_ns", sum.wall_ns)
            .phases(&sum.phases)
            .ns("waited_ns", sum.wait_ns)
            .with("last", sum.last)
            .with("matched", sum.matched)
            .with("bubble", sum.bubble().map(Cell::Share))
            .with("exposed_communication_ns", of_devices(devices().map(|d| d.exposed_communication_ns).sum()))
            .with("idle_ns", of_devices(devices().map(|d| d.idle_ns).sum()))
            .with("peak_bytes", peak.max().map(Cell::Bytes))
            .ns("start_skew_ns", sum.start_skew_ns)
            .push(rows);
    }
}

fn groups(findings: &Findings<'_>, rows: &mut Rows) {
    for (group, used) in
        findings.process_groups.iter().zip(&findings.groups).filter(|(_, used)| used.matched > 0)
    {
        Row::of(RowKind::Group)
            .with("group", group.name.as_str())
            .text("description", &group.description)
            .numbers("ranks", used.ranks.iter().copied())
            .with("parallelism", used.parallelism.as_str())
            .with("stated", Cell::Bool(used.is_stated))
            .with("matched", used.matched)
            .with("bytes", Cell::Bytes(used.bytes))
            .push(rows);
    }
}

fn bandwidths(findings: &Findings<'_>, rows: &mut Rows) {
    for traffic in &findings.traffic {
        let group = &findings.process_groups[traffic.group as usize];
        Row::of(RowKind::Bandwidth)
            .numbers("ranks", traffic.ranks.iter().copied())
            .with("group", group.name.as_str())
            .text("description", &group.description)
            .with("name", traffic.operation.as_str())
            .with("bytes", Cell::Bytes(traffic.bytes))
            .with("count", traffic.count)
            .with("nodes", traffic.nodes(findings.run))
            .ns("waited_ns", traffic.wait_ns)
            .ns("usual_transfer_ns", traffic.usual_ns)
            .with("bytes_per_second", traffic.rate().map(Cell::Rate))
            .with("bus_bytes_per_second", traffic.bus_rate().map(Cell::Rate))
            .push(rows);
    }
}

fn steps(findings: &Findings<'_>, filter: Filter, rows: &mut Rows) {
    let table = &findings.table;
    for (cells, &number) in table.cells.iter().zip(&table.numbers).filter(|(_, step)| filter.has_step(**step))
    {
        let known = || cells.iter().enumerate().filter_map(|(at, cell)| Some((at, (*cell)?)));
        let imbalance = StepTable::imbalance(cells);
        Row::of(RowKind::Step)
            .with("step", number)
            .ns("wall_ns", known().map(|(_, cell)| cell.time.1 - cell.time.0).max().unwrap_or(0))
            .ns("waited_ns", known().map(|(_, cell)| cell.wait_ns).sum())
            .with("rank", imbalance.map(|one| findings.run.members[one.member].rank))
            .with("phase", imbalance.map(|one| one.phase.as_str()))
            .with("imbalance", imbalance.map(|one| Cell::Share(one.share)))
            .push(rows);
        for (at, cell) in known() {
            let rank = findings.run.members[at].rank;
            if filter.has_rank(rank) {
                Row::of(RowKind::RankStep)
                    .with("rank", rank)
                    .with("step", number)
                    .ns("wall_ns", cell.time.1 - cell.time.0)
                    .phases(&cell.phases)
                    .ns("late_ns", cell.late_ns)
                    .ns("waited_ns", cell.wait_ns)
                    .push(rows);
            }
        }
    }
}

fn collectives(findings: &Findings<'_>, filter: Filter, rows: &mut Rows) {
    let run = findings.run;
    for (one, waits) in findings.matched.iter().zip(&findings.waits) {
        let ranks = || one.calls.iter().map(|place| run.members[place.member as usize].rank);
        let step = findings.table.step_of(run, one);
        let is_in_step = filter.step.is_none() || (findings.table.has_steps && step == filter.step);
        if !ranks().any(|rank| filter.has_rank(rank)) || !is_in_step {
            continue;
        }
        let (first, last) = (one.first(run), one.calls[waits.last]);
        let group = &findings.process_groups[one.group as usize];
        let start = one
            .calls
            .iter()
            .map(|&place| findings.clocks.aligned(place.member as usize, call(run, place).time.0));
        let counted = waits.parts.iter().zip(&waits.counted_ns).all(|(part, &counted)| part.0 == counted);
        Row::of(RowKind::Collective)
            .numbers("ranks", ranks())
            .with("group", group.name.as_str())
            .text("description", &group.description)
            .with("seq", first.seq.filter(|_| one.by == MatchedBy::Sequence))
            .with("name", one.operation(run).as_str())
            .with("bytes", first.bytes.map(Cell::Bytes))
            .with("step", step)
            .with("start_ns", start.min().map(Cell::UnixNs))
            .numbers("wait_ns", waits.parts.iter().map(|part| part.0))
            .numbers("transfer_ns", waits.parts.iter().map(|part| part.1))
            .with("last_rank", run.members[last.member as usize].rank)
            .with("last_phase", mostly(&call(run, last).doing).as_str())
            .with("counted", Cell::Bool(counted))
            .with("matched_by", one.by.as_str())
            .with("confidence", Cell::Share(one.confidence))
            .push(rows);
    }
}

/// The longest phase, without communication if there is another one.
pub(crate) fn mostly(times: &Times) -> Phase {
    let own = Phase::ALL.into_iter().filter(|&phase| phase != Phase::Communication);
    own.max_by_key(|&phase| times[phase as usize])
        .filter(|&phase| times[phase as usize] > 0)
        .unwrap_or(Phase::Communication)
}
