//! Operators and annotations that were open when the recording, or a cycle of its schedule, ended.
//!
//! Kineto writes them with `"finished": false` and lets them last to the end of the record window. PyTorch's events end
//! with their parent in the event tree, and are asynchronous. Without a parent that ended they last to the end of the
//! recording, or are no events, depending on the version.

use crate::base::order::sort_by_key;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{FieldType, Key, Layout};
use crate::trace::table::merged::{recording_of, recordings};
use crate::trace::table::metadata::Source;
use alloc::vec;
use alloc::vec::Vec;

/// Whether an event was open when the recording ended.
pub(super) fn is_open(table: &Table, row: Row) -> bool {
    table.is_span(row)
        && is_range(table.category(row))
        && table.field(row, Key::Finished) == Some(Value::Bool(false))
}

/// Whether a trace has a range that was open when the recording ended. Those of this project's recorder last to the end
/// of the recording, as it states.
pub(super) fn has_open_ranges(table: &Table) -> bool {
    let is_false = |layout: &Layout| {
        layout.find(Key::Finished).is_some_and(|field| field.field_type == FieldType::False)
    };
    table.metadata.source == Source::Chrome
        && table.metadata.text("recorder").is_none()
        && table.layouts.all().iter().any(|layout| is_range(layout.category) && is_false(layout))
}

fn is_range(category: Category) -> bool {
    matches!(category, Category::CpuOp | Category::UserAnnotation)
}

/// A range that was open when the recording ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenRange {
    row: Row,
    /// The end that PyTorch gives it, in ns after the table's base.
    end: i64,
    /// Whether it is below a range that ended.
    is_enclosed: bool,
}

/// The ranges of a trace that were open when the recording ended.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenRanges {
    /// Sorted by row.
    ranges: Vec<OpenRange>,
}

impl OpenRanges {
    /// Finds the ends of open ranges among rows in the order of an event tree, by the positions of their parents.
    pub(super) fn find(table: &Table, rows: &[Row], parent: impl Fn(usize) -> Option<usize>) -> OpenRanges {
        if !has_open_ranges(table) {
            return OpenRanges::default();
        }
        // The first window of each recording.
        let mut windows: Vec<Option<Row>> = vec![None; recordings(table)];
        for row in table.rows_of(Category::Window).filter(|&row| table.is_span(row)) {
            windows[recording_of(table, row)].get_or_insert(row);
        }
        let mut ends: Vec<(i64, bool)> = Vec::with_capacity(rows.len());
        let mut ranges = Vec::new();
        for (at, &row) in rows.iter().enumerate() {
            if !is_open(table, row) {
                ends.push((table.end(row), true));
                continue;
            }
            let window = windows[recording_of(table, row)].unwrap_or(row);
            let end_of_recording = || (table.end(window).max(table.ts(row)), false);
            // A parent precedes its children.
            let (end, is_enclosed) = parent(at).map_or_else(end_of_recording, |parent| ends[parent]);
            ends.push((end, is_enclosed));
            ranges.push(OpenRange { row, end, is_enclosed });
        }
        sort_by_key(&mut ranges, |range| (i64::from(range.row), 0));
        OpenRanges { ranges }
    }

    /// Returns the end of an event, in ns after the table's base.
    pub(super) fn end(&self, table: &Table, row: Row) -> i64 {
        self.get(row).map_or_else(|| table.end(row), |range| range.end)
    }

    /// Returns whether an event was open when the recording ended.
    pub(super) fn contains(&self, row: Row) -> bool {
        self.get(row).is_some()
    }

    /// Returns whether an event was open, and no range around it ended.
    pub(super) fn has_no_end(&self, row: Row) -> bool {
        self.get(row).is_some_and(|range| !range.is_enclosed)
    }

    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    fn get(&self, row: Row) -> Option<&OpenRange> {
        if self.ranges.is_empty() {
            return None;
        }
        let at = self.ranges.binary_search_by_key(&row, |range| range.row).ok()?;
        Some(&self.ranges[at])
    }
}
