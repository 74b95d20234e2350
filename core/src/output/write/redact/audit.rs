//! The audit of a redaction: what it keeps, by which rule, and how much it hides, to review before sharing.

use super::Redact;
use super::outcome::{Audit, Field, TextPart};
use crate::base::rows::{Column, Rows, columns};
use crate::output::write::chrome::ChromeWriter;
use crate::trace::table::events::Table;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt::{self, Write};

/// A field, whether any of it is kept, the rule, and the text with `…` for its hidden parts.
type Entry = (String, bool, &'static str, Option<String>);

/// The counts of kept and hidden texts.
#[derive(Clone, Debug, Default)]
struct Entries(BTreeMap<Entry, i64>);

impl Entries {
    fn count(&mut self, field: Field<'_>, is_kept: bool, rule: &'static str, text: Option<String>) {
        *self.0.entry((field.name(), is_kept, rule, text)).or_default() += 1;
    }
}

impl Audit for &mut Entries {
    const COUNTS: bool = true;

    fn judged(&mut self, field: Field<'_>, rule: &'static str, parts: &[TextPart<'_>]) {
        let is_kept = |part: &TextPart<'_>| matches!(part, TextPart::Keep(text) if text.contains(|c: char| c.is_alphanumeric()) || parts.len() == 1);
        if !parts.iter().any(is_kept) {
            return self.hidden(field);
        }
        let pieces = parts.iter().map(|part| match part {
            TextPart::Keep(text) => *text,
            TextPart::Hide(_) => "…",
        });
        self.count(field, true, rule, Some(pieces.collect()));
    }

    fn number(&mut self, field: Field<'_>) {
        self.count(field, true, "number", None);
    }

    fn hidden(&mut self, field: Field<'_>) {
        self.count(field, false, "no rule", None);
    }
}

columns! {
    /// The columns of [`audit`].
    const COLUMNS: fn row(entry: Entry, count: i64) {
        let (field, is_kept, rule, text) = entry;
    } [
        Column::text("field", "Field", "The part of the trace: the name, category or id of an event, or a key.") =>
            field,
        Column::bool("kept", "Kept", "Whether any of it is in the redacted trace.") => is_kept,
        Column::text("rule", "Rule", "The rule that keeps it.") => rule,
        Column::int("count", "Count", "The number of occurrences.") => count,
        Column::text("text", "Text", "The kept text, with `…` for its hidden parts; empty for numbers.")
            .nullable() => text,
    ]
}

/// A sink that drops the redacted trace.
struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

/// Returns one row per distinct text that redaction keeps in a field, and one per field for the texts that it hides.
pub fn audit(table: &Table) -> Rows {
    let mut entries = Entries::default();
    let mut writer = ChromeWriter::with_rewrite(Nowhere, Redact::with_audit(b"", &mut entries));
    // Writing to `Nowhere` cannot fail.
    let _ = table.rows().try_for_each(|row| writer.event(table, row));
    let _ = writer.finish(table);
    Rows::from_cells(COLUMNS, entries.0.into_iter().map(|(entry, count)| row(entry, count)))
}
