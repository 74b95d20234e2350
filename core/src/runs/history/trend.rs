//! The trend of each metric: its values, and where they changed.

use super::change_points::{ChangePoint, change_points};
use super::series::{Run, Series, read};
use crate::base::error::Error;
use crate::base::order::{descending, float_key, sort_by, sort_by_key};
use crate::base::page::Page;
use crate::base::rows::{Column, Kinds, Rows, RowsOfKinds, Shape, Variant, columns};
use crate::base::units::counted;
use crate::base::words::{Word, words};
use crate::runs::budget::metric::Metric;
use crate::runs::budget::quantity::Unit;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;
use serde_json::Value;

words! {
    "TrendKind"
    /// The kind of a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum TrendKind {
        /// A metric over all runs.
        Series = "series",
        /// A place where a metric changed.
        Change = "change",
    }
}

/// The kinds of rows.
pub const KINDS: Kinds = Kinds {
    column: Column::word("kind", "Kind", &TrendKind::VOCABULARY, "What the row is about."),
    variants: &[
        Variant { name: "Change", kinds: &[TrendKind::Change.as_str()], columns: CHANGE },
        Variant { name: "Series", kinds: &[TrendKind::Series.as_str()], columns: SERIES },
    ],
};

const METRIC: Column = Column::text("metric", "Metric", "The metric, with the name that it is about.");
const UNIT: Column = Column::word("unit", "Unit", &Unit::VOCABULARY, "The unit of the values.");
const RUN: Column = Column::int(
    "run",
    "Run",
    "The number of the first run after the change, from 1; of a series, the number of runs.",
);
const COMMIT: Column = Column::text(
    "commit",
    "Commit",
    "The commit of that run; empty if unknown. Of a series, that of the last run.",
);
const BEFORE: Column = Column::float(
    "before",
    "Before",
    "The mean before the change, since the change before it; of a series, its first level.",
);
const AFTER: Column = Column::float(
    "after",
    "After",
    "The mean after the change, until the next one; of a series, its last level.",
);
const SHARE: Column =
    Column::share("change", "Change", "The change as a share of the value before; null if that is 0.")
        .nullable();

columns! {
    const CHANGE: fn change(runs: &[Run], step: &SeriesChange<'_>) {
        let run = step.series.points[step.point.0].0;
    } [
        METRIC => step.series.metric.as_str(),
        UNIT => unit(&step.series.metric).as_str(),
        RUN => run + 1,
        COMMIT => runs[run].commit.as_str(),
        BEFORE => step.before,
        AFTER => step.after,
        SHARE => share(step.before, step.after),
        Column::float("probability", "", "The share of permutations with as large a change.") => step.point.1,
    ]
}

columns! {
    const SERIES: fn series(runs: &[Run], series: &Series, points: &[ChangePoint]) {
        let first = points.first().map_or(series.points.len(), |point| point.0);
        let last = points.last().map_or(0, |point| point.0);
        let [before, after] = [level(series, 0, first), level(series, last, series.points.len())];
    } [
        METRIC => series.metric.as_str(),
        UNIT => unit(&series.metric).as_str(),
        RUN => runs.len(),
        COMMIT => runs.last().map_or("", |run| run.commit.as_str()),
        BEFORE => before,
        AFTER => after,
        SHARE => share(before, after),
        Column::json("values", "", Shape::Values, "The value of each run, or null.") => values(runs, series),
    ]
}

/// The value of each run, or null.
fn values(runs: &[Run], series: &Series) -> Value {
    let mut values = vec![Value::Null; runs.len()];
    for &(at, value) in &series.points {
        values[at] = value.into();
    }
    values.into()
}

columns! {
    /// The columns of the runs.
    pub const RUN_COLUMNS: fn run(number: usize, run: &Run) [
        Column::int("run", "Run", "The number of the run, from 1.") => number,
        Column::text("commit", "Commit", "The commit; empty if unknown.") => run.commit.as_str(),
        Column::text("host", "Host", "The machine; empty if unknown.") => run.host.as_str(),
        Column::int("time_s", "Time", "The Unix time of the line, in s; 0 if unknown.") => run.time,
    ]
}

/// The smallest change that is listed, as a share.
const SMALLEST: f64 = 0.005;

/// The history of a program.
#[derive(Clone, Debug)]
pub struct Trend {
    runs: Vec<Run>,
    all: Vec<(Series, Vec<ChangePoint>)>,
}

/// A change of a series: the point, and the means before and after it.
struct SeriesChange<'a> {
    series: &'a Series,
    point: ChangePoint,
    before: f64,
    after: f64,
}

impl Trend {
    /// Reads the lines of a history.
    ///
    /// # Errors
    /// Returns [`Error::Empty`] if there are none, and [`Error::BadOption`] with the number of a line that is none of a history.
    pub fn read(text: &str) -> Result<Trend, Error> {
        let (runs, all) = read(text)?;
        if runs.is_empty() {
            return Err(Error::Empty);
        }
        let found = |series: Series| {
            let values: Vec<f64> = series.points.iter().map(|point| point.1).collect();
            let points = change_points(&values);
            (series, points)
        };
        Ok(Trend { runs, all: all.into_iter().map(found).collect() })
    }

    /// The changes, the latest first, and of one run the largest first.
    fn changes(&self) -> Vec<SeriesChange<'_>> {
        let mut steps: Vec<SeriesChange<'_>> = Vec::new();
        for (series, points) in &self.all {
            for (at, &point) in points.iter().enumerate() {
                let start = at.checked_sub(1).map_or(0, |last| points[last].0);
                let end = points.get(at + 1).map_or(series.points.len(), |next| next.0);
                let before = level(series, start, point.0);
                steps.push(SeriesChange { series, point, before, after: level(series, point.0, end) });
            }
        }
        steps.retain(|step| share(step.before, step.after).is_none_or(|share| share.abs() >= SMALLEST));
        let run = |step: &SeriesChange<'_>| step.series.points[step.point.0].0 as i64;
        let size = |step: &SeriesChange<'_>| share(step.before, step.after).map_or(f64::INFINITY, f64::abs);
        sort_by_key(&mut steps, |step| (descending(run(step)), descending(float_key(size(step)))));
        steps
    }

    /// Returns a row for each run, the oldest first.
    pub fn runs(&self) -> Rows {
        Rows::from_cells(
            RUN_COLUMNS,
            self.runs.iter().enumerate().map(|(at, recorded)| run(at + 1, recorded)),
        )
    }

    /// Returns a row for each change, and then one for each metric.
    pub fn rows(&self) -> Rows {
        let mut rows = RowsOfKinds::new(&KINDS);
        for step in self.changes() {
            rows.push(TrendKind::Change.as_str(), change(&self.runs, &step));
        }
        for (metric_series, points) in &self.all {
            rows.push(TrendKind::Series.as_str(), series(&self.runs, metric_series, points));
        }
        rows.finish()
    }

    /// Returns the changes and the series as a page of text.
    pub fn page(&self) -> Page {
        let mut head =
            format!("{} of {}", counted(self.all.len(), "metric"), counted(self.runs.len(), "run"));
        let mut hosts: Vec<&str> =
            self.runs.iter().map(|run| run.host.as_str()).filter(|host| !host.is_empty()).collect();
        sort_by(&mut hosts, Ord::cmp);
        hosts.dedup();
        if hosts.len() > 1 {
            let _ = write!(head, ", on {} machines: differences between them look like changes", hosts.len());
        }
        let mut page = Page::default();
        page.line(head);
        page.blank();
        let changes = self.changes();
        if changes.is_empty() {
            page.line("No metric changed for good.");
        } else {
            let mut table = Rows::page(&["Run", "Commit", "Metric", "Before", "After", "Change"]);
            for SeriesChange { series, point, before, after } in changes {
                let run = series.points[point.0].0;
                let unit = unit(&series.metric);
                table.push(vec![
                    (run + 1).into(),
                    short(&self.runs[run].commit).into(),
                    label(&series.metric).into(),
                    unit.show(before).into(),
                    unit.show(after).into(),
                    share(before, after).map(|share| format!("{:+.1}%", share * 100.0)).into(),
                ]);
            }
            page.line("Changes, the latest first");
            page.table(&table);
        }
        let mut table = Rows::page(&["Metric", "Last", "Runs, oldest first"]);
        for (series, _) in &self.all {
            let last = series.points.last().map_or(0.0, |point| point.1);
            table.push(vec![
                label(&series.metric).into(),
                unit(&series.metric).show(last).into(),
                bars(series).into(),
            ]);
        }
        page.blank();
        page.line("Metrics");
        page.table(&table);
        page
    }
}

/// The mean of the points in a range.
fn level(series: &Series, start: usize, end: usize) -> f64 {
    let points = &series.points[start..end];
    points.iter().map(|point| point.1).sum::<f64>() / points.len().max(1) as f64
}

fn share(before: f64, after: f64) -> Option<f64> {
    (before.abs() > 0.0).then(|| (after - before) / before)
}

/// The metric of a key, which is its first word, and the name after it with the blank.
fn metric(key: &str) -> (Option<Metric>, &str) {
    let (word, name) = key.split_at(key.find(' ').unwrap_or(key.len()));
    (Metric::from_word(word), name)
}

fn unit(key: &str) -> Unit {
    metric(key).0.map_or(Unit::Count, Metric::unit)
}

/// The key as text for a person.
fn label(key: &str) -> String {
    match metric(key) {
        (Some(metric), name) => metric.label() + name,
        (None, _) => key.into(),
    }
}

/// A commit with the length that people use.
fn short(commit: &str) -> String {
    commit.chars().take(10).collect()
}

/// The last values as bars between the least and the largest.
fn bars(series: &Series) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const MOST: usize = 40;
    let points = &series.points[series.points.len().saturating_sub(MOST)..];
    let (least, largest) =
        points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, largest), point| {
            (least.min(point.1), largest.max(point.1))
        });
    let height = |value: f64| {
        let share = if largest > least { (value - least) / (largest - least) } else { 0.0 };
        BARS[((share * 7.0) as usize).min(7)]
    };
    points.iter().map(|point| height(point.1)).collect()
}
