//! What a trace means beyond its categories: a vendor's spelling, or records that are no Chrome events.
//!
//! A dialect gives rows their phase, category, time and track, and says which of their fields stand for which known key.
//! Everything after it then sees one kind of event.

mod ascend;
pub(crate) mod hidden;
pub(crate) mod kineto_events;
mod legacy_records;
mod metadata;
mod placing;

use crate::diagnostics::Diagnostics;
use crate::table::events::Table;
use crate::table::metadata::Source;

/// Gives events the meaning that their place in the trace implies.
pub(crate) fn apply(table: &mut Table, diagnostics: &mut Diagnostics) {
    match table.metadata.source {
        Source::Chrome => ascend::apply(table),
        Source::LegacyRecords => legacy_records::apply(table, diagnostics),
        Source::KinetoEvents => kineto_events::apply(table, diagnostics),
    }
}
