//! Dialects: vendor-specific spellings and records that are not Chrome trace events.
//!
//! A dialect sets the phase, category, time and track of rows, and maps their fields to known keys. All later steps see
//! one kind of event.

mod ascend;
mod execution_trace;
pub(crate) mod hidden;
pub(crate) mod kineto_events;
mod legacy_chrome;
mod legacy_records;
mod metadata;
pub(crate) mod nanoseconds;
mod placing;

use crate::base::diagnostics::Diagnostics;
use crate::trace::table::events::Table;
use crate::trace::table::metadata::Source;

/// Applies the dialect of the table's source.
pub(crate) fn apply(table: &mut Table, diagnostics: &mut Diagnostics) {
    match table.metadata.source {
        Source::Chrome => {
            nanoseconds::apply(table, diagnostics);
            ascend::apply(table);
            legacy_chrome::apply(table);
        }
        Source::LegacyRecords => legacy_records::apply(table, diagnostics),
        Source::KinetoEvents => kineto_events::apply(table, diagnostics),
        Source::ExecutionTrace => execution_trace::apply(table),
    }
}
