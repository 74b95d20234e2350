//! The answer of `serving` as text for a person.

use super::answer::ServingAnswer;
use super::groups::Group;
use super::parts::{PARTS, Part};
use super::served::Served;
use crate::base::order::{descending, sort_by_key};
use crate::base::page::{Page, listed};
use crate::base::rows::{Cell, Rows};
use crate::base::units::{counted, time_ns};
use crate::base::words::label;
use crate::trace::Trace;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The number of kinds of iterations, of graphs and of iterations that are listed.
const LISTED: usize = 10;

pub(super) fn text(trace: &Trace, answer: &ServingAnswer<'_>) -> Page {
    let mut page = Page::default();
    heading(&mut page, answer);
    phases(&mut page, answer);
    parts(&mut page, answer);
    batches(&mut page, answer);
    graphs(&mut page, trace, answer);
    longest(&mut page, trace, answer);
    page
}

fn heading(page: &mut Page, answer: &ServingAnswer<'_>) {
    let total = &answer.total;
    let all: i64 = answer.served.iter().map(Served::wall_ns).sum();
    let what = counted(total.count, "iteration");
    if answer.processes > 1 {
        page.line(format!(
            "Serving: {what} of {} processes, {} in sum",
            answer.processes,
            time_ns(all, None)
        ));
        page.line("  times add up over the processes, and rates are the mean of a process");
    } else {
        page.line(format!("Serving: {what} in {}", time_ns(all, None)));
    }
    if let Some(confidence) = answer.inferred {
        page.line(format!(
            "  inferred: no range names iterations. Groups of launches that repeat take {:.0}% of the time; that they are iterations is a guess",
            confidence * 100.0
        ));
    }
    if total.warm_up > 0 && total.warm_up < total.count {
        page.line(format!("  {} at the start left out: warm-up", counted(total.warm_up, "iteration")));
    }
    if let Some(joules) = total.joules_by(answer.reading_ns, true) {
        let tokens = total.tokens.filter(|&tokens| tokens > 0);
        let each = tokens.map_or(String::new(), |tokens| format!(", {:.3} J/token", joules / tokens as f64));
        page.line(format!("  energy by counters of power: {joules:.2} J{each}"));
    }
    for (phase, group) in &answer.phases {
        page.line(format!("  {}", sentence(phase, group)));
    }
}

/// What a phase takes, and what takes most of that.
fn sentence(phase: &str, group: &Group) -> String {
    let median = time_ns(group.percentiles_ns[0], None);
    let many = if group.steady > 1 { format!("p50 {median}") } else { median };
    let tokens = group.per_second(group.tokens);
    let tokens = tokens.map_or(String::new(), |rate| format!(", {rate:.0} tokens/s"));
    let bound = group.bound().map_or(String::new(), |(bound, ns)| {
        let share = group.share(ns) * 100.0;
        format!("; {} {share:.0}% of the time", bound.takes())
    });
    format!("{}: {}, {many}{tokens}{bound}", label(phase), counted(group.steady, "iteration"))
}

fn phases(page: &mut Page, answer: &ServingAnswer<'_>) {
    let titles = [
        "Phase",
        "Iterations",
        "Requests",
        "Tokens",
        "Wall",
        "p50",
        "p90",
        "p99",
        "Tokens/s",
        "Time/token",
        "GPU busy",
    ];
    let mut rows = Rows::page(&titles);
    for (phase, group) in &answer.phases {
        let mut cells: Vec<Cell> = vec![label(phase).into()];
        cells.extend(group_cells(group));
        rows.push(cells);
    }
    page.indented("Phases", &rows);
}

fn group_cells(group: &Group) -> Vec<Cell> {
    let [p50, p90, p99] = group.percentiles_ns.map(Cell::Ns);
    vec![
        Cell::Int(group.steady as i64),
        mean_cell(group, group.batch),
        group.tokens.map_or(Cell::Null, Cell::Int),
        Cell::Ns(group.wall_ns),
        p50,
        p90,
        p99,
        group.per_second(group.tokens).map_or(Cell::Null, Cell::Rate),
        group.time_per_token_ns().map_or(Cell::Null, Cell::Ns),
        Cell::Share(group.share(group.busy_ns())),
    ]
}

fn mean_cell(group: &Group, sum: Option<i64>) -> Cell {
    sum.map_or(Cell::Null, |sum| Cell::Float(group.mean(sum)))
}

/// The time of an iteration of each phase, by what it is spent on.
fn parts(page: &mut Page, answer: &ServingAnswer<'_>) {
    let mut rows = Rows::page(&["Part", "Phase", "Time/iteration", "Share"]);
    for (phase, group) in &answer.phases {
        let mut order: Vec<usize> = (0..PARTS).filter(|&at| group.parts_ns[at] > 0).collect();
        sort_by_key(&mut order, |&at| (descending(group.parts_ns[at]), 0));
        for at in order {
            let ns = group.parts_ns[at];
            rows.push(vec![
                Part::ALL[at].label().into(),
                label(phase).into(),
                Cell::Ns(ns / group.steady.max(1) as i64),
                Cell::Share(group.share(ns)),
            ]);
        }
    }
    page.indented("Where the time of an iteration goes", &rows);
}

fn batches(page: &mut Page, answer: &ServingAnswer<'_>) {
    if answer.kinds.len() <= answer.phases.len() {
        return;
    }
    let mut rows = Rows::page(&["Phase", "Iterations", "Requests", "Tokens", "p50", "Tokens/s", "Bound by"]);
    for (first, group) in answer.kinds.iter().take(LISTED) {
        rows.push(vec![
            label(&first.name.phase).into(),
            Cell::Int(group.steady as i64),
            mean_cell(group, group.batch),
            mean_cell(group, group.tokens),
            Cell::Ns(group.percentiles_ns[0]),
            group.per_second(group.tokens).map_or(Cell::Null, Cell::Rate),
            group.bound().map_or(Cell::Null, |bound| label(bound.0.as_str()).into()),
        ]);
    }
    page.indented(&listed("Phase, requests and tokens", answer.kinds.len(), LISTED), &rows);
}

fn graphs(page: &mut Page, trace: &Trace, answer: &ServingAnswer<'_>) {
    let mut rows = Rows::page(&["Graph", "Launches", "Activities", "Time/replay", "Gaps", "Call", "Wait"]);
    for (at, graph) in answer.graphs.iter().take(LISTED).enumerate() {
        let mean = |ns: i64| Cell::Ns(graph.mean_ns(ns));
        rows.push(vec![
            format!("{} {}", trace.table.name(graph.first), at + 1).into(),
            Cell::Int(graph.launches as i64),
            Cell::Int(graph.activities as i64),
            mean(graph.time_ns),
            mean(graph.gap_ns),
            mean(graph.call_ns),
            mean(graph.wait_ns),
        ]);
    }
    page.indented(&listed("Graph replays", answer.graphs.len(), LISTED), &rows);
}

fn longest(page: &mut Page, trace: &Trace, answer: &ServingAnswer<'_>) {
    let mut order: Vec<usize> = (0..answer.served.len()).collect();
    sort_by_key(&mut order, |&at| (descending(answer.served[at].wall_ns()), 0));
    let mut rows = Rows::page(&["Step", "Range", "Start", "Wall", "GPU busy", "Most of it", ""]);
    for one in order.into_iter().take(LISTED).map(|at| &answer.served[at]) {
        let most = (0..PARTS).max_by_key(|&at| one.parts_ns[at]).map(|at| Part::ALL[at]);
        let warm_up = if one.is_warm_up { "warm-up" } else { "" };
        rows.push(vec![
            Cell::Int(one.number),
            trace.table.name(one.row).into(),
            Cell::Ns(one.host.0.saturating_sub(trace.start_ns)),
            Cell::Ns(one.wall_ns()),
            Cell::Ns(one.busy_ns()),
            most.map_or(Cell::Null, |part| part.label().into()),
            warm_up.into(),
        ]);
    }
    page.indented(&listed("Longest iterations", answer.served.len(), LISTED), &rows);
}
