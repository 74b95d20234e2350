//! A comparison as a page of text.

use super::kinds::{DiffPart, RowKind};
use super::query::DiffOptions;
use super::statistics::median;
use super::tree::signed;
use super::verdict::Factor;
use super::{Comparison, Finding, rank_waits};
use crate::base::page::Page;
use crate::base::rows::{Cell, Layout, Rows};
use crate::base::units::{self, counted};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The number of rows of a table on the page.
const TOP: usize = 15;

/// Returns the page.
pub(super) fn page(comparison: &Comparison, options: &DiffOptions) -> Page {
    let mut page = Page::default();
    let [a, b] = &comparison.sources;
    let name = |names: &[String]| match names {
        [only] => only.clone(),
        several if several.len() == comparison.ranks => counted(several.len(), "rank"),
        several => {
            format!("{} with {}", counted(comparison.ranks, "rank"), counted(several.len(), "recording"))
        }
    };
    let [steps_a, steps_b] = comparison.steps;
    page.line(format!("A: {} ({})", name(a), counted(steps_a, "step")));
    page.line(format!("B: {} ({})", name(b), counted(steps_b, "step")));
    if comparison.findings.is_empty() {
        page.blank();
        page.line("Nothing that is compared differs: the numbers of calls and the times of spans and device work, by place.");
    }
    let limit = options.row_limit.unwrap_or(TOP);
    page.section("Totals per step", &totals(comparison));
    speed(comparison, &mut page);
    let waits = comparison.findings.iter().filter(|finding| finding.line.kind == RowKind::Wait);
    for finding in waits.filter(|finding| finding.line.verdict.is_significant != Some(false)) {
        page.blank();
        page.line(format!("Waits: {}.", rank_waits::text(&finding.line)));
    }
    for note in &comparison.notes {
        page.blank();
        page.line(format!("Note: {note}."));
    }
    overlaps(comparison, &mut page);
    let of = |significant: Option<bool>| -> Vec<&Finding> {
        let parts = comparison.findings.iter().filter(|finding| is_shown(finding));
        parts.filter(|finding| finding.line.verdict.is_significant == significant).collect()
    };
    let (certain, undecided, noise) = (of(Some(true)), of(None), of(Some(false)));
    if certain.is_empty() && undecided.is_empty() && !comparison.findings.is_empty() {
        page.blank();
        page.line("No change of a row is more than noise.");
    }
    page.section("Changes per step, the largest first", &table(&certain, limit));
    rest(&mut page, &certain, limit);
    page.section("Differences that may be noise, the largest first", &table(&undecided, limit));
    rest(&mut page, &undecided, limit);
    if !noise.is_empty() {
        page.blank();
        page.line(format!("Not distinguishable from noise: {}", counted(noise.len(), "row")));
    }
    page
}

/// States the total time of calls if the tables show only a part of it, in traces of ranges only.
fn overlaps(comparison: &Comparison, page: &mut Page) {
    let lines =
        || comparison.findings.iter().filter(|finding| is_shown(finding)).map(|finding| &finding.line);
    let is_of_ranges = lines().all(|line| matches!(line.kind, RowKind::Range | RowKind::Other));
    if comparison.ranks != 1 || !is_of_ranges {
        return;
    }
    let overlap =
        lines().filter(|line| line.kind == RowKind::Range && (0..2).any(|side| line.overlaps(side)));
    for line in overlap.take(TOP) {
        let [a, b] = line.sums.map(|ns| units::time_ns(ns, None));
        let [calls_a, calls_b] = line.counts;
        page.blank();
        page.line(format!("Calls of {} took {a} in sum ({calls_a} in A), {b} in sum ({calls_b} in B). The tables show the thread that runs the steps, and count each instant for one span.",
            line.name));
    }
}

/// Whether a finding is a row of the tables of changes.
fn is_shown(finding: &Finding) -> bool {
    let kind = finding.line.kind;
    !matches!(kind, RowKind::Total | RowKind::Phase | RowKind::Wait | RowKind::Step | RowKind::Speed)
}

fn change_cell(finding: &Finding) -> Cell {
    let line = &finding.line;
    if line.kind == RowKind::Memory {
        let sign = if line.contribution() < 0 { "-" } else { "+" };
        return format!("{sign}{}", units::bytes(line.contribution().saturating_abs())).into();
    }
    signed(line.contribution()).into()
}

fn value_cell(finding: &Finding, side: usize) -> Cell {
    let value = finding.line.values[side];
    if finding.line.kind == RowKind::Memory { Cell::Bytes(value) } else { Cell::Ns(value) }
}

/// An interval in one unit, with three digits after the point.
fn interval_cell(finding: &Finding) -> Cell {
    let Some((low, high)) = finding.line.verdict.interval.filter(|_| finding.line.kind != RowKind::Memory)
    else {
        return Cell::Null;
    };
    let (unit, name) = match low.abs().max(high.abs()) {
        1e9.. => (1e9, "s"),
        1e6.. => (1e6, "ms"),
        _ => (1e3, "us"),
    };
    // Adding 0 turns -0 into 0.
    format!("{:+.3} to {:+.3}{name}", low / unit + 0.0, high / unit + 0.0).into()
}

fn percent(change: f64, of: f64) -> Cell {
    if of == 0.0 { Cell::Null } else { format!("{:+.1}%", change / of * 100.0 + 0.0).into() }
}

/// The change of the median of the steps, which the interval is about.
fn median_cell(finding: &Finding) -> Cell {
    let [a, b] = &finding.line.samples;
    if a.is_empty() || b.is_empty() { Cell::Null } else { percent(median(b) - median(a), median(a)) }
}

fn totals(comparison: &Comparison) -> Rows {
    let mut rows = Rows::page(&["Total", "A", "B", "Change", "%", "Median", "95 % interval", "Significant"])
        .with(Layout::Minor, &["A", "B", "Median", "95 % interval"]);
    let order = |part: DiffPart| {
        comparison.findings.iter().find(|finding| finding.line.part_of_total() == Some(part))
    };
    let of = |kind: RowKind| comparison.findings.iter().filter(move |finding| finding.line.kind == kind);
    let below = of(RowKind::Phase).chain(of(RowKind::Wait));
    for finding in DiffPart::ALL.into_iter().filter_map(order).chain(below) {
        let verdict = match finding.line.verdict.is_significant {
            Some(true) => "yes",
            Some(false) => "no",
            None => "cannot tell",
        };
        let name = match finding.line.kind {
            RowKind::Total => finding.line.label(),
            _ => format!("  {}", finding.line.label()),
        };
        rows.push(vec![
            name.into(),
            value_cell(finding, 0),
            value_cell(finding, 1),
            change_cell(finding),
            percent(finding.line.contribution() as f64, finding.line.values[0] as f64),
            median_cell(finding),
            interval_cell(finding),
            verdict.into(),
        ]);
    }
    rows
}

fn speed(comparison: &Comparison, page: &mut Page) {
    let mut add = |what: &str, factor: &Option<Factor>| {
        let Some(factor) = factor else { return };
        let ratio = factor.ratio();
        page.blank();
        page.line(format!(
            "The same work of the {what} takes {ratio:.2} times as long (middle of {}, spread {:.1} %).",
            counted(factor.lines, "row"),
            factor.spread * 100.0
        ));
        let is_undecided = |finding: &Finding| finding.line.verdict.factor == Some(ratio);
        if comparison.findings.iter().any(is_undecided) {
            page.line("A total that changed by no more than that can have the machine as its cause.");
        }
    };
    add("host", &comparison.factors[0]);
    add("devices", &comparison.factors[1]);
}

fn table(findings: &[&Finding], limit: usize) -> Rows {
    let mut rows = Rows::page(&["Kind", "Name", "Change", "A", "B", "Contribution", "95 % interval", "Why"])
        .with(Layout::Sentence, &["Why"])
        .with(Layout::Minor, &["A", "B", "95 % interval"]);
    for finding in findings.iter().take(limit) {
        let why = finding.why.as_ref().map(|why| why.1.clone());
        let place = finding.line.places.first().map(|place| format!("in {}", place.0));
        let why = match (why, place) {
            (Some(why), Some(place)) if !why.is_empty() => Cell::from(format!("{why}; {place}")),
            (why, place) => Cell::from(why.filter(|why| !why.is_empty()).or(place)),
        };
        rows.push(vec![
            finding.line.kind.label().into(),
            finding.line.label().into(),
            finding.change.label().into(),
            value_cell(finding, 0),
            value_cell(finding, 1),
            change_cell(finding),
            interval_cell(finding),
            why,
        ]);
    }
    rows
}

fn rest(page: &mut Page, findings: &[&Finding], limit: usize) {
    if findings.len() > limit {
        page.line(format!("and {} more", findings.len() - limit));
    }
}
