//! The rows of an outline.

use super::{Outline, Total};
use crate::base::index::Keyed;
use crate::base::names::NameId;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, Rows, columns};
use crate::base::words::words;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

words! {
    "OutlineKind"
    /// What a row of an outline is about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum OutlineKind {
        /// All events.
        Trace = "trace",
        /// The events of a category.
        Category = "category",
        /// The events of a thread or a stream.
        Track = "track",
        /// The events of a category and a name.
        Name = "name",
    }
}

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(kind: OutlineKind, name: &str, category: &str, total: &Total, start: i64) {
        let after = |ns: i64| ns.saturating_sub(start);
    } [
        Column::word("kind", "Kind", &OutlineKind::VOCABULARY, "What the row is about.") => kind.as_str(),
        Column::text("name", "Name", "The name of the events, or of the thread or stream.") => name,
        Column::text("category", "Category", "The category of the events; empty for all of a track.") => category,
        Column::int("events", "Events", "The number of objects of traceEvents.") => total.events as i64,
        Column::int("spans", "Spans", "The number of complete events (`ph` is `X`).") => total.spans as i64,
        Column::ns("sum_ns", "Sum", "The sum of the durations of complete events; nested events count each.") =>
            total.sum_ns,
        Column::ns("longest_ns", "Longest", "The longest of these durations.") => total.longest_ns,
        Column::ns("start_ns", "Start", "The earliest start, after the start of the recording.").nullable() =>
            total.time.map(|time| after(time.0)),
        Column::ns("end_ns", "End", "The latest end, after the start of the recording.").nullable() =>
            total.time.map(|time| after(time.1)),
    ]
}

impl Outline {
    /// Returns the totals: of the trace, then of each category, track and name, the largest sums first, and at most `limit` of each
    /// kind.
    pub fn rows(&self, limit: Option<usize>) -> Rows {
        let mut rows = Rows::new(COLUMNS);
        let start = self.start_ns();
        let mut add = |kind: OutlineKind, entries: Vec<(String, String, Total)>| {
            for (name, category, total) in entries.into_iter().take(limit.unwrap_or(usize::MAX)) {
                rows.push(row(kind, &name, &category, &total, start));
            }
        };
        add(OutlineKind::Trace, vec![(String::new(), String::new(), self.all)]);
        add(OutlineKind::Category, self.categories());
        add(OutlineKind::Track, self.tracks());
        add(OutlineKind::Name, self.groups());
        rows
    }

    /// The number of events whose names are summed by category only, because the trace has too many names.
    pub fn merged_names(&self) -> u64 {
        self.groups.merged
    }

    fn text(&self, id: NameId) -> String {
        self.names.get(id).into()
    }

    fn categories(&self) -> Vec<(String, String, Total)> {
        let mut sums: Keyed<Total> = Keyed::default();
        for &(category, _, ref total) in self.groups.iter() {
            sums.entry((i64::from(category.0), 0)).add(total);
        }
        let text = |category: i64| self.text(NameId(category as u32));
        let sums = sums.into_entries().into_iter();
        sorted(sums.map(|((category, _), total)| (String::new(), text(category), total)).collect())
    }

    fn tracks(&self) -> Vec<(String, String, Total)> {
        let name = |track| format!("{} › {}", self.process(track), self.thread(track));
        let named = self.tracks.all().iter().zip(&self.by_track);
        sorted(named.map(|(&track, of_track)| (name(track), String::new(), of_track.total)).collect())
    }

    fn groups(&self) -> Vec<(String, String, Total)> {
        let groups =
            self.groups.iter().map(|&(category, name, total)| (self.text(name), self.text(category), total));
        sorted(groups.collect())
    }
}

/// Sorts by sums, then by the number of events; entries with equal ones stay in the order of the file.
fn sorted(mut entries: Vec<(String, String, Total)>) -> Vec<(String, String, Total)> {
    sort_by_key(&mut entries, |(_, _, total)| (descending(total.sum_ns), descending(total.events as i64)));
    entries
}
