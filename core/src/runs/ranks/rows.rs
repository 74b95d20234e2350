//! The answer of `ranks` as rows of several kinds.

use super::columns::{COLUMNS, PHASES, RowKind};
use super::findings::{Filter, Findings};
use super::fitness::shared;
use super::matching::{MatchedBy, call};
use super::phases::{Phase, Times, own};
use super::step_table::{StepTable, known};
use super::stragglers::Straggler;
use crate::base::rows::{Cell, Column, Rows};
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

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

    /// Who was late, in which steps and at what cost.
    fn late(self, findings: &Findings<'_>, one: &Straggler) -> Row {
        let steps = if findings.table.has_steps { one.steps.as_slice() } else { &[] };
        self.with("phase", one.phase.as_str())
            .numbers("steps", steps.iter().copied())
            .ns("cost_ns", one.cost_ns)
            .with("persistent", Cell::Bool(one.is_persistent))
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
    fitness(findings, filter, &mut rows);
    stragglers(findings, filter, &mut rows);
    slow_nodes(findings, filter, &mut rows);
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

fn fitness(findings: &Findings<'_>, filter: Filter, rows: &mut Rows) {
    for one in shared(findings.run) {
        if one.ranks.iter().any(|&rank| filter.has_rank(rank)) {
            Row::of(RowKind::Fitness)
                .numbers("ranks", one.ranks)
                .with("question", one.question.as_str())
                .with("verdict", one.verdict.as_str())
                .with("message", one.because)
                .push(rows);
        }
    }
}

fn stragglers(findings: &Findings<'_>, filter: Filter, rows: &mut Rows) {
    for (one, evidence) in findings.stragglers_of(filter) {
        let member = &findings.run.members[one.member];
        Row::of(RowKind::Straggler)
            .with("rank", member.rank)
            .text("host", member.host())
            .late(findings, one)
            .with("message", evidence)
            .push(rows);
    }
}

fn slow_nodes(findings: &Findings<'_>, filter: Filter, rows: &mut Rows) {
    for one in findings.slow_nodes_of(filter) {
        Row::of(RowKind::SlowNode)
            .numbers("ranks", one.ranks.iter().copied())
            .with("host", one.host)
            .late(findings, &one.late)
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
        let known = || known(cells);
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
    Phase::OWN
        .into_iter()
        .max_by_key(|&phase| times[phase as usize])
        .filter(|&phase| times[phase as usize] > 0)
        .unwrap_or(Phase::Communication)
}
