//! Traces whose times are nanoseconds since 1970 instead of microseconds.
//!
//! Read as microseconds, such times are tens of thousands of years away. A table keeps them as text, because they are out of
//! range. If that holds for every event with a time, all times of the file are read as nanoseconds. Otherwise the
//! diagnostics state what the numbers look like.

use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::names::NameId;
use crate::base::time::{self, Parsed, parse_nanos};
use crate::trace::table::bounds::{DURATION, START};
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::FieldPlace;
use alloc::format;
use alloc::string::String;
use core::ops::Range;

/// Nanoseconds between 1970 and the years 2000 and 2100.
const NANOSECONDS: Range<i64> = 946_684_800_000_000_000..4_102_444_800_000_000_000;
/// Ticks of 100 ns between the year 1 and the years 2000 and 2100, as .NET counts.
const TICKS: Range<i64> = 630_822_816_000_000_000..662_380_416_000_000_000;
/// Ticks of 100 ns between 1601 and the years 2000 and 2100, as Windows counts.
const FILE_TIME: Range<i64> = 125_911_584_000_000_000..157_469_184_000_000_000;

/// Sets the times of a table whose times are all nanoseconds since 1970.
pub(crate) fn apply(table: &mut Table, diagnostics: &mut Diagnostics) {
    let Some(start) = table.names.find(START) else { return };
    let has_far = table.layouts.all().iter();
    if !has_far.flat_map(|layout| &layout.fields).any(|f| f.place == FieldPlace::Top && f.key == start) {
        return;
    }
    let far = |row: Row| Some(far_time(table, row, start)?.ns);
    let has_text = |row: Row| table.field_with(row, FieldPlace::Top, start).is_some();
    let timed =
        table.rows().filter(|&row| has_text(row) || (table.ph(row) != b'M' && table.ts(row) != time::NONE));
    let mut timed = timed.peekable();
    if timed.peek().is_some() && timed.all(|row| far(row).is_some_and(|ns| NANOSECONDS.contains(&ns))) {
        convert(table, start, diagnostics);
        return;
    }
    for row in table.rows() {
        if let Some((ns, unit)) = far(row).and_then(|ns| Some((ns, unit(ns)?))) {
            diagnostics.record(Code::UnlikelyUnit, None, format!("{ns}: {unit}").as_bytes());
        }
    }
}

/// The unit in which a number is a time between 2000 and 2100.
fn unit(number: i64) -> Option<&'static str> {
    let units = [
        (NANOSECONDS, "nanoseconds since 1970"),
        (TICKS, "ticks of 100 ns since the year 1"),
        (FILE_TIME, "ticks of 100 ns since 1601"),
    ];
    units.into_iter().find(|(range, _)| range.contains(&number)).map(|(_, unit)| unit)
}

/// The number in the text of a time that is out of range.
fn far_time(table: &Table, row: Row, key: NameId) -> Option<Parsed> {
    let value = table.field_with(row, FieldPlace::Top, key)?;
    match value {
        Value::Int(ns) => Some(Parsed { ns, rounded: false, clamped: false }),
        Value::Text(text) | Value::Number(text) => parse_nanos(text.trim().as_bytes()),
        Value::Decimal { .. } => parse_nanos(value.to_json().as_bytes()),
        _ => None,
    }
}

fn convert(table: &mut Table, start: NameId, diagnostics: &mut Diagnostics) {
    let found = diagnostics.take(Code::TimeOutOfRange);
    let (mut count, mut rounded, mut far) = (0, 0, 0);
    let duration = table.names.find(DURATION);
    for row in table.rows() {
        if let Some(time) = far_time(table, row, start) {
            table.place(row, time.ns, table.track_id(row));
            (count, rounded) = (count + 1, rounded + u64::from(time.rounded));
        }
        let dur = table.dur(row);
        if dur == time::NONE {
            continue;
        }
        // A duration was read as microseconds.
        let text = duration.and_then(|key| far_time(table, row, key));
        let ns = text.as_ref().map_or_else(|| (dur + 500) / 1000, |time| time.ns);
        rounded += u64::from(text.map_or(dur % 1000 != 0, |time| time.rounded));
        far += u64::from(ns > time::LONGEST);
        table.set_dur(row, ns.min(time::LONGEST));
    }
    table.remove_fields(&[START, DURATION]);
    let (offset, example) = found.map_or((None, String::new()), |f| (f.first_offset, f.example));
    diagnostics.record_many(Code::Nanoseconds, count, offset, example.as_bytes());
    diagnostics.record_many(Code::TimeRounded, rounded, None, b"");
    diagnostics.record_many(Code::TimeOutOfRange, far, None, b"");
}
