//! Anti-patterns: known inefficiencies, detected in PyTorch's event tree.
//!
//! The rules are those of PyTorch's pattern matchers. Custom patterns implement [`Pattern`]; [`find`] takes any set of
//! them. Traces since PyTorch 2.14 have the line of each call; others identify the function that contains a match by the line of its `def`.

mod pattern;
pub mod rules;
mod scene;

pub use pattern::Pattern;
pub use scene::{Needs, Scene};

use self::rules::NamePattern;
use super::event_tree::EventNode;
use crate::analysis::query::options::{Opt, ROW_LIMIT, options};
use crate::analysis::query::{Answer, Compile, Query, Request};
use crate::base::error::Error;
use crate::base::order::{descending, sort_by_key};
use crate::base::page::Page;
use crate::base::rows::{Cell, Column, Rows, columns};
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A match of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match {
    /// The index of the pattern in the list that was searched for.
    pub pattern: usize,
    /// The node of [`Scene::tree`].
    pub node: EventNode,
    /// The duration on the CPU, in ns.
    pub cpu_ns: i64,
    /// The sum of the device work that it launched, in ns.
    pub device_ns: i64,
    /// The maximum time that can be saved, in ns.
    pub saving_ns: Option<i64>,
}

/// Finds the matches of some patterns. Patterns whose needed settings the trace lacks are skipped.
pub fn find(scene: &Scene<'_>, patterns: &[&dyn Pattern]) -> Vec<Match> {
    let mut found = Vec::new();
    for (index, pattern) in patterns.iter().enumerate().filter(|(_, p)| scene.has(p.needs())) {
        found.extend(pattern.matches(scene).into_iter().map(|node| Match {
            pattern: index,
            node,
            cpu_ns: scene.duration_ns(node),
            device_ns: scene.device_ns(node),
            saving_ns: pattern.saving_ns(scene, node),
        }));
    }
    found
}

/// PyTorch's patterns, in its order; those of its `report_all_anti_patterns` are first.
pub const ALL: [&dyn Pattern; 8] = [
    &rules::ExtraCudaCopy,
    &rules::Fp32MatMul,
    &rules::OptimizerSingleTensor,
    &rules::SynchronizedDataLoader,
    &rules::GradNotSetToNone,
    &rules::Conv2dBiasFollowedByBatchNorm2d,
    &rules::MatMulDimInFp16,
    &rules::ForLoopIndexing,
];

/// The patterns of PyTorch's report.
pub const REPORTED: &[&dyn Pattern] = ALL.split_at(7).0;

/// Returns the report on some patterns in the format of PyTorch's `report_all_anti_patterns`, with different descriptions: every
/// distinct message once, then the number of matched events.
pub fn report(trace: &Trace, patterns: &[&dyn Pattern]) -> Page {
    let scene = Scene::new(trace);
    let found = find(&scene, patterns);
    let rule = "-".repeat(40);
    let title = format!("{rule}TorchTidy Report{rule}");
    let mut page = Page::exact();
    page.line(&title);
    page.line("Matched Events:");
    let mut printed: Vec<[Option<String>; 2]> = Vec::new();
    for matched in &found {
        let pattern = patterns[matched.pattern];
        let place = pattern.reports_place().then(|| {
            let place = scene.place(matched.node).unwrap_or("No source code location found");
            format!("[Source Code Location] {place}")
        });
        let message = [Some(pattern.description().to_owned()), place];
        if !printed.contains(&message) {
            message.iter().flatten().for_each(|line| page.line(line));
            printed.push(message);
        }
    }
    page.line("Summary:");
    for (index, pattern) in patterns.iter().enumerate() {
        let count = found.iter().filter(|m| m.pattern == index).count();
        if count > 0 {
            page.line(format!("{}: {count} events matched.", pattern.name()));
        }
    }
    page.line(title);
    page
}

/// Returns the rows as a table, followed by the advice for each pattern.
pub(crate) fn advice(rows: &Rows) -> Page {
    let mut page = Page::default();
    page.table(rows);
    let column = |key: &str| rows.columns.iter().position(|c| c.key == key).unwrap_or(0);
    let (name, description) = (column("pattern"), column("description"));
    let mut printed: Vec<&Cell> = Vec::new();
    for row in &rows.rows {
        if let (Cell::Text(pattern), Cell::Text(text)) = (&row[name], &row[description])
            && !printed.contains(&&row[name])
        {
            page.blank();
            page.line(pattern);
            page.line(format!("  → {text}"));
            printed.push(&row[name]);
        }
    }
    page
}

options! {
    /// Options of `patterns`.
    pub struct PatternsOptions {
        /// Find events whose names have a match of this regular expression, instead of anti-patterns.
        pub name: Option<String> = Opt::text(
            "name",
            "REGEX",
            "Find events whose names match a regular expression, instead of anti-patterns",
        ),
        /// Print PyTorch's report instead of a table with advice; the rows are the same.
        pub report: bool =
            Opt::flag("report", "Print the report in the format of PyTorch's `report_all_anti_patterns`"),
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `patterns`.
pub const PATTERNS: Query = Query::new(
    "patterns",
    "Anti-patterns with their place and the time that a fix can save",
    COLUMNS,
    answer,
)
.examples(&["run.json --report", "run.json --name aten::copy_"])
.options::<PatternsOptions>()
.hint("nothing was found; some anti-patterns require record_shapes=True and with_stack=True");

fn answer(trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
    let options: PatternsOptions = request.typed();
    let rows = patterns(trace, &options, request.compile)?;
    let text = match request.for_reading {
        true if options.report => Some(patterns_report(trace, &options, request.compile)?),
        true if !rows.rows.is_empty() => Some(advice(&rows)),
        _ => None,
    };
    Ok(Answer { text, ..rows.into() })
}

/// Returns the matches of anti-patterns, or of names that fit a regular expression, which `compile` compiles.
///
/// # Errors
/// Returns [`Error::BadOption`] if the regular expression is malformed.
pub fn patterns(trace: &Trace, options: &PatternsOptions, compile: Compile) -> Result<Rows, Error> {
    let named = named_pattern(options, compile)?;
    let rows = match &named {
        Some(named) => pattern_rows(trace, &[named]),
        None => pattern_rows(trace, &ALL),
    };
    Ok(rows.first(options.row_limit))
}

/// Returns the matches in the format of PyTorch's `report_all_anti_patterns`.
///
/// # Errors
/// Returns [`Error::BadOption`] if the regular expression is malformed.
pub fn patterns_report(trace: &Trace, options: &PatternsOptions, compile: Compile) -> Result<Page, Error> {
    Ok(match &named_pattern(options, compile)? {
        Some(named) => report(trace, &[named]),
        None => report(trace, REPORTED),
    })
}

fn named_pattern(options: &PatternsOptions, compile: Compile) -> Result<Option<NamePattern>, Error> {
    let Some(expression) = &options.name else { return Ok(None) };
    let wrong = |what| Error::BadOption(format!("name: {what}"));
    Ok(Some(NamePattern::new(expression, compile(expression).map_err(wrong)?)))
}

columns! {
    /// The columns of the answer.
    pub const COLUMNS:
        fn row(scene: &Scene<'_>, pattern: &dyn Pattern, place: Option<&str>, count: usize, sum: &Match) [
        Column::text("pattern", "Pattern", "The name of the pattern.") => pattern.name(),
        Column::int("count", "Matches", "The number of matched events at this place.") => count,
        Column::ns("cpu_time_ns", "CPU", "Sum of the CPU durations of the matched events.") => sum.cpu_ns,
        Column::ns("device_time_ns", "Device", "Sum of the device work that the matched events launched.") =>
            sum.device_ns,
        Column::ns("saving_ns", "Saves at most", "The maximum time that a fix can save, if the trace determines it.")
            .nullable() => sum.saving_ns,
        Column::text("event", "Event", "The first matched event.") => scene.name(sum.node),
        Column::ns("start_ns", "At", "The start of the first matched event, after the start of the recording.") =>
            scene.start_ns(sum.node),
        Column::text("place", "Place", "The innermost call outside of PyTorch, path:line, or its function, path(line of its def): name.")
            .nullable() => place,
        Column::text("description", "", "What is wrong, and what to do.") => pattern.description(),
        Column::text("url", "", "The address of further documentation.") => pattern.url(),
    ]
}

/// Returns the matches grouped by pattern and place, the largest saving first.
pub(crate) fn pattern_rows(trace: &Trace, patterns: &[&dyn Pattern]) -> Rows {
    let scene = Scene::new(trace);
    let mut groups: Vec<(Option<&str>, usize, Match)> = Vec::new();
    for matched in find(&scene, patterns) {
        let place = scene.place(matched.node);
        match groups.iter_mut().find(|g| g.0 == place && g.2.pattern == matched.pattern) {
            Some((_, count, sum)) => {
                *count += 1;
                sum.cpu_ns = sum.cpu_ns.saturating_add(matched.cpu_ns);
                sum.device_ns = sum.device_ns.saturating_add(matched.device_ns);
                sum.saving_ns = sum.saving_ns.zip(matched.saving_ns).map(|(a, b)| a.saturating_add(b));
            }
            None => groups.push((place, 1, matched)),
        }
    }
    sort_by_key(&mut groups, |(_, _, sum)| {
        (descending(sum.saving_ns.unwrap_or(0)), descending(sum.cpu_ns.max(sum.device_ns)))
    });
    let mut rows = Rows::new(COLUMNS);
    for (place, count, sum) in groups {
        rows.push(row(&scene, patterns[sum.pattern], place, count, &sum));
    }
    rows
}
