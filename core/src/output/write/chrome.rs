//! Writes a table as a Chrome trace that reads back equal.
//!
//! The writer escapes strings as JSON requires, writes times with three decimals, and keeps every field of every event.
//! Metadata that is known before the first event is written before `traceEvents`, the rest after it. An execution trace
//! is written as one: its events are `nodes`, without a phase.

use crate::base::rows::quote;
use crate::base::time;
use crate::trace::table::bounds::{DURATION, START};
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{Field, FieldPlace, is_begin};
use crate::trace::table::metadata::Source;
use crate::trace::table::tracks::Track;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{Result, Write};

/// The object that a key belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOf {
    /// An event, or its arguments.
    Event(FieldPlace),
    /// The top-level object.
    Metadata,
}

/// Replaces parts of events while they are written. Each method returns the replacement, or `None` to keep the original.
/// [`Keep`] replaces nothing.
pub trait Rewrite {
    /// The string to write instead of a category.
    fn category(&mut self, _: &str) -> Option<String> {
        None
    }
    /// The key to write instead of a key.
    fn key(&mut self, _: KeyOf, _: &str) -> Option<String> {
        None
    }
    /// The string to write instead of an event's name.
    fn name(&mut self, _: &Table, _: Row) -> Option<String> {
        None
    }
    /// The JSON to write instead of a field's value.
    fn field(&mut self, _: &Table, _: Row, _: FieldPlace, _: &str, _: Value<'_>) -> Option<String> {
        None
    }
    /// The JSON to write instead of a `pid` or `tid`.
    fn id(&mut self, _: &str) -> Option<String> {
        None
    }
    /// The JSON to write instead of a metadata value.
    fn metadata(&mut self, _: &str, _: &str) -> Option<String> {
        None
    }
    /// The time to write instead of the start of an event, in ns after the base.
    fn start(&mut self, _: i64) -> Option<i64> {
        None
    }
}

/// Keeps everything as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep;

impl Rewrite for Keep {}

impl Rewrite for Box<dyn Rewrite> {
    fn category(&mut self, text: &str) -> Option<String> {
        (**self).category(text)
    }

    fn key(&mut self, of: KeyOf, key: &str) -> Option<String> {
        (**self).key(of, key)
    }

    fn name(&mut self, table: &Table, row: Row) -> Option<String> {
        (**self).name(table, row)
    }

    fn field(
        &mut self,
        table: &Table,
        row: Row,
        place: FieldPlace,
        key: &str,
        value: Value<'_>,
    ) -> Option<String> {
        (**self).field(table, row, place, key, value)
    }

    fn id(&mut self, json: &str) -> Option<String> {
        (**self).id(json)
    }

    fn metadata(&mut self, key: &str, json: &str) -> Option<String> {
        (**self).metadata(key, json)
    }

    fn start(&mut self, ns: i64) -> Option<i64> {
        (**self).start(ns)
    }
}

/// Writes one trace, event by event.
pub struct ChromeWriter<W, R = Keep> {
    out: W,
    rewrite: R,
    started: bool,
    bare: bool,
    events: u64,
    metadata_written: usize,
}

impl<W: Write> ChromeWriter<W, Keep> {
    /// Creates a writer to `out`.
    pub fn new(out: W) -> Self {
        ChromeWriter::with_rewrite(out, Keep)
    }
}

impl ChromeWriter<String, Keep> {
    /// Formats one event as a JSON object.
    ///
    /// # Errors
    /// Never, because writing to a `String` does not fail.
    pub fn one(table: &Table, row: Row) -> core::result::Result<String, core::fmt::Error> {
        let mut writer = ChromeWriter { started: true, ..ChromeWriter::new(String::new()) };
        writer.event(table, row)?;
        writer.out.remove(0);
        Ok(writer.out)
    }
}

impl<W: Write, R: Rewrite> ChromeWriter<W, R> {
    /// Creates a writer of events only, in a document that has this number of them.
    pub(super) fn for_part(out: W, rewrite: R, events: u64) -> Self {
        ChromeWriter { started: true, events, ..ChromeWriter::with_rewrite(out, rewrite) }
    }

    /// Creates a writer to `out` that replaces strings with `rewrite`.
    pub fn with_rewrite(out: W, rewrite: R) -> Self {
        ChromeWriter { out, rewrite, started: false, bare: false, events: 0, metadata_written: 0 }
    }

    fn start(&mut self, table: &Table) -> Result {
        self.started = true;
        self.bare = table.metadata.bare_array;
        if self.bare {
            return self.out.write_str("[");
        }
        self.out.write_str("{")?;
        let leading = table.metadata.entries.len() - table.metadata.trailing;
        self.metadata(table, leading, "\n")?;
        let separator = if self.metadata_written > 0 { "," } else { "" };
        let key = if table.metadata.source == Source::ExecutionTrace { "nodes" } else { "traceEvents" };
        write!(self.out, "{separator}\n\"{key}\": [")
    }

    /// Writes the entries up to `end` that were not written yet.
    fn metadata(&mut self, table: &Table, end: usize, first: &str) -> Result {
        let entries = &table.metadata.entries[..end];
        let mut separator = first;
        for (key, json) in entries.iter().skip(self.metadata_written) {
            self.out.write_str(separator)?;
            let changed = self.rewrite.metadata(key, json);
            let key = quoted_key(&mut self.rewrite, KeyOf::Metadata, key);
            write!(self.out, "{key}: {}", changed.as_deref().unwrap_or(json))?;
            separator = ",\n";
        }
        self.metadata_written = end;
        Ok(())
    }

    /// Starts the document before its first event, and separates an event from the one before.
    fn begin(&mut self, table: &Table) -> Result {
        if !self.started {
            self.start(table)?;
        }
        self.events += 1;
        self.out.write_str(if self.events > 1 { ",\n" } else { "\n" })
    }

    /// Writes an event that is not in the table.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub(crate) fn addition(&mut self, table: &Table, json: &str) -> Result {
        self.begin(table)?;
        self.out.write_str(json)
    }

    /// Writes one event.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn event(&mut self, table: &Table, row: Row) -> Result {
        self.begin(table)?;
        self.out.write_str("{")?;
        let mut members = Members { out: &mut self.out, first: true };
        let ph = table.ph(row);
        if ph != 0 && table.metadata.source != Source::ExecutionTrace {
            members.member("ph", &quote(&char::from(ph).to_string()))?;
        }
        let layout = table.layout(row);
        if let Some(text) = category_text(table, row) {
            let changed = if layout.cat.is_some() { self.rewrite.category(text) } else { None };
            members.member("cat", &quote(changed.as_deref().unwrap_or(text)))?;
        }
        // The end of a span has no name of its own.
        if ph != b'E' || !table.name(row).is_empty() {
            let name = self.rewrite.name(table, row);
            members.member("name", &quote(name.as_deref().unwrap_or(table.name(row))))?;
        }
        let Track { pid, tid, .. } = table.track(row);
        for (key, id) in [("pid", pid), ("tid", tid)] {
            let json = table.names.get(id);
            if !json.is_empty() {
                let changed = self.rewrite.id(json);
                members.member(key, changed.as_deref().unwrap_or(json))?;
            }
        }
        let start = Some(table.ts(row)).filter(|&ns| ns != time::NONE);
        let start = start.map_or(time::NONE, |ns| self.rewrite.start(ns).unwrap_or(ns));
        for (key, ns) in [(START, start), (DURATION, table.dur(row))] {
            if ns != time::NONE && (key == START || !is_begin(ph)) && !is_far(table, row, key) {
                let mut text = String::new();
                time::write_micros(&mut text, ns);
                members.member(key, &text)?;
            }
        }
        for (field, value) in top_fields(table, row) {
            let key = table.names.get(field.key);
            let changed = self.rewrite.field(table, row, FieldPlace::Top, key, value);
            let key = quoted_key(&mut self.rewrite, KeyOf::Event(FieldPlace::Top), key);
            members.quoted(&key, &changed.unwrap_or_else(|| value.to_json()))?;
        }
        let mut args = String::new();
        for (field, value) in table.all_fields(row).filter(|f| f.0.place == FieldPlace::Args) {
            let key = table.names.get(field.key);
            let changed = self.rewrite.field(table, row, FieldPlace::Args, key, value);
            let key = quoted_key(&mut self.rewrite, KeyOf::Event(FieldPlace::Args), key);
            let separator = if args.is_empty() { "{" } else { "," };
            write!(args, "{separator}{key}:{}", changed.unwrap_or_else(|| value.to_json()))?;
        }
        if !args.is_empty() {
            args.push('}');
            members.member("args", &args)?;
        }
        self.out.write_str("}")
    }

    /// Ends the document and returns the output.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn finish(mut self, table: &Table) -> core::result::Result<W, core::fmt::Error> {
        if !self.started {
            self.start(table)?;
        }
        self.out.write_str("\n]")?;
        if !self.bare {
            self.metadata(table, table.metadata.entries.len(), ",\n")?;
            self.out.write_str("\n}")?;
        }
        self.out.write_str("\n")?;
        Ok(self.out)
    }

    /// Ends the writing, and returns what replaced parts of events.
    pub(super) fn into_rewrite(self) -> R {
        self.rewrite
    }

    /// The output.
    pub fn output(&mut self) -> &mut W {
        &mut self.out
    }

    /// The number of events written.
    pub fn events(&self) -> u64 {
        self.events
    }
}

struct Members<'a, W> {
    out: &'a mut W,
    first: bool,
}

impl<W: Write> Members<'_, W> {
    fn member(&mut self, key: &str, json: &str) -> Result {
        self.quoted(&quote(key), json)
    }

    /// Writes a member whose key is already JSON.
    fn quoted(&mut self, key: &str, json: &str) -> Result {
        let separator = if self.first { "" } else { "," };
        self.first = false;
        write!(self.out, "{separator}{key}:{json}")
    }
}

/// The category to write. Records have no `cat`, but a category from their dialect.
pub(super) fn category_text(table: &Table, row: Row) -> Option<&str> {
    let layout = table.layout(row);
    let is_record = table.metadata.source != Source::Chrome && layout.category != Category::Other;
    layout.cat.map(|cat| table.names.get(cat)).or(is_record.then(|| layout.category.as_str()))
}

/// The key to write, as a JSON string.
fn quoted_key(rewrite: &mut impl Rewrite, of: KeyOf, key: &str) -> String {
    let changed = rewrite.key(of, key);
    quote(changed.as_deref().unwrap_or(key))
}

/// The fields of an event outside its arguments. A text of a time that was replaced is none of them.
pub(crate) fn top_fields(table: &Table, row: Row) -> impl Iterator<Item = (&Field, Value<'_>)> {
    table.all_fields(row).filter(move |(field, _)| {
        let is_replaced = |key| matches!(key, START | DURATION) && !is_far(table, row, key);
        field.place == FieldPlace::Top && !is_replaced(table.names.get(field.key))
    })
}

/// Whether a time of an event is out of range, so that the event has its text.
pub(crate) fn is_far(table: &Table, row: Row, key: &str) -> bool {
    let is_out_of_range = match key {
        START => table.ts(row) == time::NONE,
        _ => table.dur(row) == time::LONGEST,
    };
    is_out_of_range && table.field_named(row, FieldPlace::Top, key).is_some()
}

/// Formats fields as a JSON object; empty without fields.
pub(crate) fn fields_json<'t>(table: &Table, fields: impl Iterator<Item = (&'t Field, Value<'t>)>) -> String {
    let member = |(field, value): (&Field, Value<'_>)| {
        format!("{}:{}", quote(table.names.get(field.key)), value.to_json())
    };
    let members: Vec<String> = fields.map(member).collect();
    if members.is_empty() { String::new() } else { format!("{{{}}}", members.join(",")) }
}

/// Writes every event of a table for which `keep` returns true.
///
/// # Errors
/// Returns the errors of the output.
pub fn write<W: Write>(
    table: &Table,
    out: W,
    mut keep: impl FnMut(Row) -> bool,
) -> core::result::Result<W, core::fmt::Error> {
    let mut writer = ChromeWriter::new(out);
    for row in table.rows().filter(|&row| keep(row)) {
        writer.event(table, row)?;
    }
    writer.finish(table)
}
