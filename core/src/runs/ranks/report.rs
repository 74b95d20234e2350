//! The answer of `ranks` as a page of text.

use super::findings::{Filter, Findings};
use super::fitness::shared;
use super::phases::{Phase, Times, own_work};
use super::query::RanksOptions;
use super::rows::rows;
use super::run::{Note, NoteCode, Run, ranks_text};
use super::step_table::StepTable;
use super::stragglers::Straggler;
use super::structure::title;
use crate::base::error::Error;
use crate::base::order::{descending, float_key, sort_by_key};
use crate::base::page::Page;
use crate::base::rows::{Cell, Layout, Rows};
use crate::base::units::{self, bytes, counted, time_ns, with_prefix};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

fn filter(options: &RanksOptions) -> Filter {
    Filter { rank: options.rank, step: options.step }
}

/// The number of rows of a table on the page.
const TOP: usize = 10;

/// The number of ranks up to which each has a row of its own.
const SINGLE: usize = 16;

impl Run {
    /// Checks that the run has the rank and the step.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if it has not.
    pub fn check(&self, options: &RanksOptions) -> Result<(), Error> {
        let has_rank = |rank| self.members.iter().any(|member| member.rank == rank);
        if let Some(rank) = options.rank.filter(|&rank| !has_rank(rank)) {
            return Err(Error::BadOption(format!("rank: there is no trace of rank {rank}")));
        }
        let has_step =
            |number| self.members.iter().any(|member| member.steps.iter().any(|step| step.number == number));
        if let Some(step) = options.step.filter(|&step| !has_step(step)) {
            return Err(Error::BadOption(format!("step: no trace has a step {step}")));
        }
        Ok(())
    }

    /// Returns the findings about the run as rows.
    pub fn rows(&self, options: &RanksOptions) -> Rows {
        rows(&Findings::new(self), filter(options)).first(options.row_limit)
    }

    /// Returns the findings about the run as a page of text.
    pub fn page(&self, options: &RanksOptions) -> Page {
        let findings = Findings::new(self);
        let mut page = Page::default();
        head(&findings, &mut page);
        page.section("Slow nodes", &slow_nodes(&findings, filter(options)));
        page.section("Late ranks, the most expensive first", &late(&findings, filter(options)));
        page.section("Slow links", &slow_links(&findings));
        match (options.rank, options.step) {
            (None, None) => {
                let (title, table) = ranks(&findings);
                page.section(title, &table);
                page.section("Steps, the most imbalanced first", &steps(&findings));
                page.section("Communication, the longest first", &traffic(&findings));
                page.section("Process groups", &groups(&findings));
                page.section("Clocks against the reference rank", &clocks(&findings));
                page.section("What the traces cannot answer, or not completely", &fitness(self));
            }
            _ => page.section("Ranks in steps", &rank_steps(&findings, filter(options))),
        }
        page
    }
}

fn head(findings: &Findings<'_>, page: &mut Page) {
    let run = findings.run;
    let ranks = match run.world_size {
        Some(size) => {
            let recorded = run.members.iter().filter(|member| (0..size).contains(&member.rank)).count();
            format!("{recorded} of {}", counted(size as usize, "rank"))
        }
        None => counted(run.members.len(), "rank"),
    };
    let steps = counted(findings.table.numbers.len(), "step");
    let steps = if findings.table.has_steps { steps } else { "no steps".into() };
    let matched = counted(findings.matched.len(), "matched collective");
    page.line(format!("Run: {ranks}, {steps}, {matched}"));
    let waited: i64 = findings.ranks.iter().map(|rank| rank.wait_ns).sum();
    let wall: i64 = findings.ranks.iter().map(|rank| rank.wall_ns).sum();
    let communication: i64 =
        findings.ranks.iter().map(|rank| rank.phases[Phase::Communication as usize]).sum();
    if wall > 0 {
        page.line(format!(
            "Exposed communication: {} of the steps; waiting for other ranks: {}, summed over the ranks",
            units::share(communication as f64, wall as f64),
            time_ns(waited, None)
        ));
    }
    let is_known = |note: &Note| !matches!(note.code, NoteCode::ArrivesLast | NoteCode::LatenessUnknown);
    if findings.has_no_late_rank() && findings.notes.iter().all(is_known) {
        page.line("No rank is late beyond the noise of the run.");
    }
    for note in &findings.notes {
        page.line(format!("Note: {}.", note.message));
    }
}

fn late(findings: &Findings<'_>, filter: Filter) -> Rows {
    let mut table = Rows::page(&["Rank", "Phase", "Steps", "Cost, sum", "Per step", "What it did more, sum"])
        .with(Layout::Sentence, &["What it did more, sum"]);
    for (straggler, evidence) in findings.stragglers_of(filter) {
        let member = &findings.run.members[straggler.member];
        let mut row = vec![member.rank.into()];
        row.extend(lateness(findings, straggler));
        row.push(evidence.into());
        table.push(row);
    }
    table
}

fn slow_nodes(findings: &Findings<'_>, filter: Filter) -> Rows {
    let mut table = Rows::page(&["Node", "Ranks", "Phase", "Steps", "Cost, sum", "Per step"]);
    for node in findings.slow_nodes_of(filter) {
        let mut row = vec![node.host.into(), numbers(&node.ranks).into()];
        row.extend(lateness(findings, &node.late));
        table.push(row);
    }
    table
}

/// The phase and the steps, and the cost in all and in a step.
fn lateness(findings: &Findings<'_>, straggler: &Straggler) -> [Cell; 4] {
    let steps = if findings.table.has_steps { numbers(&straggler.steps) } else { "all".into() };
    [
        straggler.phase.label().into(),
        steps.into(),
        Cell::Ns(straggler.cost_ns),
        Cell::Ns(straggler.cost_ns / straggler.count.max(1) as i64),
    ]
}

/// Numbers as ranges: `2-9`, `4, 8`.
fn numbers(numbers: &[i64]) -> String {
    let text = ranks_text(numbers);
    text.split_once(' ').map_or(text.clone(), |(_, numbers)| numbers.to_string())
}

fn slow_links(findings: &Findings<'_>) -> Rows {
    let mut table =
        Rows::page(&["Ranks", "Group", "Collective", "Bytes", "Per call", "Elsewhere", "Cost, sum"]);
    for link in findings.slow_links.iter().take(TOP) {
        let traffic = &findings.traffic[link.traffic];
        table.push(vec![
            numbers(&traffic.ranks).into(),
            title(&findings.process_groups[traffic.group as usize]).into(),
            traffic.operation.label().into(),
            if traffic.bytes > 0 { Cell::Bytes(traffic.bytes) } else { Cell::Null },
            Cell::Ns(traffic.usual_ns),
            Cell::Ns(link.others_ns),
            Cell::Ns(link.cost_ns),
        ]);
    }
    table
}

/// A table of all ranks, or of the classes of ranks that behave alike.
fn ranks(findings: &Findings<'_>) -> (&'static str, Rows) {
    let is_single = findings.ranks.len() <= SINGLE;
    let name = if is_single { "Rank" } else { "Ranks" };
    let titles = [
        name,
        "Step",
        "Data",
        "Forward",
        "Backward",
        "Optimizer",
        "Comm.",
        "Other",
        "Waits",
        "Last",
        "Bubble",
    ];
    let mut table = Rows::page(&titles).with(Layout::Minor, &["Data", "Optimizer", "Other", "Bubble"]);
    let count = findings.ranks.iter().map(|rank| rank.class + 1).max().unwrap_or(0);
    let steps = findings.table.numbers.len().max(1) as i64;
    let groups: Vec<Vec<usize>> = if is_single {
        (0..findings.ranks.len()).map(|at| vec![at]).collect()
    } else {
        let of = |class| (0..findings.ranks.len()).filter(|&at| findings.ranks[at].class == class).collect();
        (0..count).map(of).collect()
    };
    for members in groups {
        let ranks: Vec<i64> = members.iter().map(|&at| findings.run.members[at].rank).collect();
        let share = |ns: i64| Cell::Ns(ns / steps / members.len().max(1) as i64);
        let sum = |of: &dyn Fn(usize) -> i64| members.iter().map(|&at| of(at)).sum::<i64>();
        let phase = |phase: Phase| share(sum(&|at| findings.ranks[at].phases[phase as usize]));
        let last = sum(&|at| findings.ranks[at].last as i64);
        let matched = sum(&|at| findings.ranks[at].matched as i64);
        let bubbles: Vec<f64> = members.iter().filter_map(|&at| findings.ranks[at].bubble()).collect();
        let bubble = bubbles.iter().sum::<f64>() / bubbles.len().max(1) as f64;
        table.push(vec![
            numbers(&ranks).into(),
            share(sum(&|at| findings.ranks[at].wall_ns)),
            phase(Phase::DataLoading),
            phase(Phase::Forward),
            phase(Phase::Backward),
            phase(Phase::Optimizer),
            phase(Phase::Communication),
            phase(Phase::Other),
            share(sum(&|at| findings.ranks[at].wait_ns)),
            if matched > 0 { Cell::Share(last as f64 / matched as f64) } else { Cell::Null },
            if bubbles.is_empty() { Cell::Null } else { Cell::Share(bubble) },
        ]);
    }
    let title =
        if is_single { "Ranks, mean of a step" } else { "Ranks that behave alike, mean of a step and rank" };
    (title, table)
}

fn steps(findings: &Findings<'_>) -> Rows {
    let mut table = Rows::page(&["Step", "Wall", "Waits, all ranks", "Imbalance", "Rank", "Phase"]);
    let steps = &findings.table;
    let mut order: Vec<usize> = (0..steps.cells.len()).filter(|_| steps.has_steps).collect();
    let share = |at: &usize| StepTable::imbalance(&steps.cells[*at]).map_or(0.0, |imbalance| imbalance.share);
    sort_by_key(&mut order, |at| (descending(float_key(share(at))), 0));
    for &at in order.iter().take(TOP) {
        let cells = || steps.cells[at].iter().flatten();
        let imbalance = StepTable::imbalance(&steps.cells[at]);
        table.push(vec![
            steps.numbers[at].into(),
            Cell::Ns(cells().map(|cell| cell.time.1 - cell.time.0).max().unwrap_or(0)),
            Cell::Ns(cells().map(|cell| cell.wait_ns).sum()),
            imbalance.map_or(Cell::Null, |imbalance| Cell::Share(imbalance.share)),
            imbalance.map(|imbalance| findings.run.members[imbalance.member].rank).into(),
            imbalance.map(|imbalance| imbalance.phase.label()).into(),
        ]);
    }
    table
}

fn traffic(findings: &Findings<'_>) -> Rows {
    let titles =
        ["Group", "Ranks", "Nodes", "Collective", "Bytes", "Count", "Waits, sum", "Transfer, each", "Bus"];
    let mut table = Rows::page(&titles);
    for traffic in findings.traffic.iter().take(TOP) {
        let rate = traffic.bus_rate().map(|rate| with_prefix(rate) + "B/s");
        table.push(vec![
            title(&findings.process_groups[traffic.group as usize]).into(),
            numbers(&traffic.ranks).into(),
            traffic.nodes(findings.run).into(),
            traffic.operation.label().into(),
            if traffic.bytes > 0 { bytes(traffic.bytes).into() } else { Cell::Null },
            traffic.count.into(),
            Cell::Ns(traffic.wait_ns),
            Cell::Ns(traffic.usual_ns),
            rate.into(),
        ]);
    }
    table
}

fn groups(findings: &Findings<'_>) -> Rows {
    let mut table = Rows::page(&["Group", "Ranks", "Parallelism", "By", "Collectives", "Bytes"]);
    let used = findings.process_groups.iter().zip(&findings.groups).filter(|(_, used)| used.matched > 0);
    for (group, used) in used.take(2 * TOP) {
        table.push(vec![
            title(group).into(),
            numbers(&used.ranks).into(),
            used.parallelism.label().into(),
            if used.is_stated { "name" } else { "traffic" }.into(),
            used.matched.into(),
            if used.bytes > 0 { Cell::Bytes(used.bytes) } else { Cell::Null },
        ]);
    }
    table
}

/// The clocks that are shifted or not known.
fn clocks(findings: &Findings<'_>) -> Rows {
    let mut table = Rows::page(&["Rank", "Offset", "Error", "Drift", "Collectives", "Not known because"])
        .with(Layout::Sentence, &["Not known because"]);
    let known = findings.run.members.iter().zip(&findings.clocks.of);
    let shifted = known
        .filter(|(_, clock)| clock.as_ref().is_ok_and(super::clocks::Clock::is_shifted) || clock.is_err());
    for (member, clock) in shifted.take(SINGLE) {
        table.push(match clock {
            Ok(clock) => vec![
                member.rank.into(),
                Cell::Ns(clock.offset_ns),
                Cell::Ns(clock.error_ns),
                format!("{:.1} ppm", clock.drift * 1e6).into(),
                clock.collectives.into(),
                Cell::Null,
            ],
            Err(refused) => {
                let mut row = vec![Cell::Null; 6];
                row[0] = member.rank.into();
                row[5] = refused.0.as_str().into();
                row
            }
        });
    }
    table
}

fn fitness(run: &Run) -> Rows {
    let mut table =
        Rows::page(&["Question", "Verdict", "Ranks", "Because"]).with(Layout::Sentence, &["Because"]);
    for fitness in shared(run).into_iter().take(TOP) {
        let (question, verdict) = (fitness.question.label(), fitness.verdict.label());
        table.push(vec![
            question.into(),
            verdict.into(),
            numbers(&fitness.ranks).into(),
            fitness.because.into(),
        ]);
    }
    table
}

/// The ranks and steps of the filter.
fn rank_steps(findings: &Findings<'_>, filter: Filter) -> Rows {
    let titles = [
        "Step",
        "Rank",
        "Wall",
        "Data",
        "Forward",
        "Backward",
        "Optimizer",
        "Comm.",
        "Other",
        "Own",
        "Waits",
        "Late",
    ];
    let mut table = Rows::page(&titles);
    let steps = findings.table.cells.iter().zip(&findings.table.numbers);
    for (cells, &number) in steps.filter(|(_, number)| filter.has_step(**number)) {
        for (member, cell) in findings.run.members.iter().zip(cells) {
            let Some(cell) = cell.filter(|_| filter.has_rank(member.rank)) else { continue };
            let phases: Times = cell.phases;
            let mut row: Vec<Cell> =
                vec![number.into(), member.rank.into(), Cell::Ns(cell.time.1 - cell.time.0)];
            row.extend(phases.map(Cell::Ns));
            row.extend([own_work(&phases), cell.wait_ns, cell.late_ns].map(Cell::Ns));
            table.push(row);
        }
    }
    table
}
