//! Lines without an event that have samples or their frames, which JSON Lines can have anywhere. They become members of the document.

use super::edit;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::names::NameId;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{Field, FieldPlace};
use crate::trace::table::metadata::Source;
use alloc::string::String;
use alloc::vec::Vec;

/// The member of a document that has its events.
const EVENTS: &str = "traceEvents";

/// Recognises such lines among the rows of a table.
pub(crate) struct Lines<'a> {
    table: &'a Table,
    keys: [Option<NameId>; 2],
    events: Option<NameId>,
}

impl<'a> Lines<'a> {
    /// Finds the names of the members.
    pub(crate) fn new(table: &'a Table) -> Lines<'a> {
        let keys = [edit::SAMPLES, edit::FRAMES].map(|key| table.names.find(key));
        Lines { table, keys, events: table.names.find(EVENTS) }
    }

    /// Whether a row is such a line.
    pub(crate) fn has(&self, row: Row) -> bool {
        self.table.ph(row) == 0 && self.has_samples(row) && !self.has_events(row)
    }

    fn has_samples(&self, row: Row) -> bool {
        let value = |&key: &NameId| self.table.field_with(row, FieldPlace::Top, key);
        self.keys.iter().flatten().filter_map(value).any(|value| value.as_json().is_some())
    }

    /// After damage, a document that follows can be read as a line. It is one only without events.
    fn has_events(&self, row: Row) -> bool {
        let events = self.events.and_then(|key| self.table.field_with(row, FieldPlace::Top, key));
        events.is_some_and(|events| events.to_json() != "[]")
    }

    /// The members of the document that a line has, with their JSON.
    pub(crate) fn members(&self, row: Row) -> impl Iterator<Item = (String, String)> {
        let is_member = |(field, _): &(&Field, Value<'_>)| {
            field.place == FieldPlace::Top && Some(field.key) != self.events
        };
        let members = self.table.all_fields(row).filter(is_member);
        members.map(|(field, value)| (self.table.names.get(field.key).into(), value.to_json()))
    }
}

/// Makes members of the document of the lines. Nodes of execution traces, which have no phase, are not lines.
pub(crate) fn adopt(table: &mut Table, diagnostics: &mut Diagnostics) {
    let lines = Lines::new(table);
    if table.metadata.source != Source::Chrome || lines.keys == [None; 2] {
        return;
    }
    let (found, events): (Vec<Row>, Vec<Row>) = table.rows().partition(|&row| lines.has(row));
    if found.is_empty() {
        return;
    }
    let members: Vec<(String, String)> = found.iter().flat_map(|&row| lines.members(row)).collect();
    table.metadata.trailing += members.len();
    table.metadata.entries.extend(members);
    table.metadata.bare_array = false;
    table.retain(&events);
    are_no_events(diagnostics, found.len() as u64);
}

/// Removes the diagnostics of lines, which were read as events.
pub(crate) fn are_no_events(diagnostics: &mut Diagnostics, lines: u64) {
    if let Some(found) = diagnostics.take(Code::MissingPhase) {
        let count = found.count.saturating_sub(lines);
        diagnostics.record_many(Code::MissingPhase, count, found.first_offset, found.example.as_bytes());
    }
}
