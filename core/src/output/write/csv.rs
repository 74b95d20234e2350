//! Writes events as lines of CSV (RFC 4180): times in ns, fields as one JSON object.

use super::chrome::fields_json;
use crate::base::escape::{csv, csv_exact, json};
use crate::base::time;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks;
use alloc::string::{String, ToString};
use core::fmt::Write;

/// The header line.
pub(crate) const HEADER: &str = "row,ts_ns,dur_ns,ph,cat,name,pid,tid,fields\r\n";

/// Appends the line of one event, with texts exactly as they are or safe for spreadsheets.
pub(crate) fn event(table: &Table, row: Row, exact: bool, out: &mut String) {
    let field = if exact { csv_exact } else { csv };
    let time = |ns: i64| if ns == time::NONE { String::new() } else { ns.to_string() };
    let fields = fields_json(table, table.all_fields(row));
    let track = table.track(row);
    let ph = table.ph(row);
    let _ = write!(
        out,
        "{},{},{},{},{},{},{},{},{}\r\n",
        row.index(),
        time(table.ts(row)),
        time(table.dur(row)),
        if ph == 0 { String::new() } else { char::from(ph).to_string() },
        field(table.cat(row)),
        field(table.name(row)),
        field(tracks::plain(&table.names, track.pid)),
        field(tracks::plain(&table.names, track.tid)),
        csv_exact(&if exact { fields } else { json(&fields).into_owned() })
    );
}
