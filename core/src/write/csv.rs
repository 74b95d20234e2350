//! Writes events as lines of CSV (RFC 4180): times in ns, fields as one JSON object.

use super::chrome::fields_json;
use crate::rows::csv_field;
use crate::table::events::{Row, Table};
use crate::table::tracks;
use crate::time;
use alloc::string::{String, ToString};
use core::fmt::Write;

/// The header line.
pub(crate) const HEADER: &str = "row,ts_ns,dur_ns,ph,cat,name,pid,tid,fields\r\n";

/// Appends the line of one event.
pub(crate) fn event(table: &Table, row: Row, out: &mut String) {
    let time = |ns: i64| if ns == time::NONE { String::new() } else { ns.to_string() };
    let track = table.track(row);
    let ph = table.ph(row);
    let _ = write!(
        out,
        "{},{},{},{},{},{},{},{},{}\r\n",
        row.index(),
        time(table.ts(row)),
        time(table.dur(row)),
        if ph == 0 { String::new() } else { char::from(ph).to_string() },
        csv_field(table.cat(row)),
        csv_field(table.name(row)),
        csv_field(tracks::plain(&table.names, track.pid)),
        csv_field(tracks::plain(&table.names, track.tid)),
        csv_field(&fields_json(table, table.all_fields(row)))
    );
}
