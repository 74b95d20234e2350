//! A trace as lines of text, which the fixtures are compared by.

use kinetoscope_core::analysis::timeline::samples::{self, SamplesBy, SamplesOptions};
use kinetoscope_core::base::time;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::events::{Row, Table};
use kinetoscope_core::trace::table::layout::FieldPlace;
use std::fmt::Write;

fn ns(value: i64) -> String {
    if value == time::NONE { "-".to_owned() } else { value.to_string() }
}

/// Returns the line of one event.
pub fn event(table: &Table, row: Row) -> String {
    let track = table.track(row);
    let id = |id| Some(table.names.get(id)).filter(|t| !t.is_empty()).unwrap_or("-").to_owned();
    let ph = table.ph(row);
    let mut line = format!(
        "{} cat={:?} name={:?} pid={} tid={} ts={} dur={}",
        if ph == 0 { '-' } else { char::from(ph) },
        table.cat(row),
        table.name(row),
        id(track.pid),
        id(track.tid),
        ns(table.ts(row)),
        ns(table.dur(row))
    );
    for (place, mark) in [(FieldPlace::Top, "."), (FieldPlace::Args, "")] {
        for (field, value) in table.all_fields(row).filter(|f| f.0.place == place) {
            let _ = write!(line, " {mark}{}={}", table.names.get(field.key), value.to_json());
        }
    }
    line
}

/// Returns the lines of every event and of all metadata.
pub fn events(trace: &Trace) -> String {
    let table = &trace.table;
    let mut out = String::new();
    for row in table.rows() {
        let _ = writeln!(out, "{} {}", row.index(), event(table, row));
    }
    for (key, value) in &table.metadata.entries {
        let _ = writeln!(out, "metadata {key:?} = {value}");
    }
    out
}

/// Returns the events and everything derived from them, without the diagnostics.
pub fn structure(trace: &Trace) -> String {
    let mut out = events(trace);
    for (name, pairs) in [
        ("span", &trace.pairs.spans),
        ("async", &trace.pairs.asyncs),
        ("flow", &trace.pairs.flows),
        ("launch of", &trace.links.launch_of),
        ("op of", &trace.links.op_of),
        ("forward of", &trace.links.forward_of),
    ] {
        for (a, b) in pairs {
            let _ = writeln!(out, "{name} {} {}", a.index(), b.index());
        }
    }
    if !trace.pairs.incomplete.is_empty() {
        let rows: Vec<usize> = trace.pairs.incomplete.iter().map(|row| row.index()).collect();
        let _ = writeln!(out, "incomplete {rows:?}");
    }
    for lane in trace.tree.lanes() {
        let _ = writeln!(out, "lane track={} extra={}", lane.track.0, lane.extra);
        let self_times = trace.tree.self_times(&trace.table, lane);
        for (at, self_ns) in lane.positions().zip(self_times) {
            let indent = "  ".repeat(trace.tree.depth(at) as usize + 1);
            let _ = writeln!(out, "{indent}{} self={self_ns}", trace.tree.row(at).index());
        }
    }
    let options = SamplesOptions { by: SamplesBy::Tree, ..SamplesOptions::default() };
    let samples = samples::samples(trace, &options);
    for at in 0..samples.rows.len() {
        let _ = writeln!(out, "samples {}", samples.json_row(at));
    }
    out
}

/// Returns the structure and the diagnostics.
pub fn complete(trace: &Trace) -> String {
    let mut out = structure(trace);
    for f in trace.diagnostics.findings() {
        let offset = f.first_offset.map_or("-".to_owned(), |o| o.to_string());
        let _ = writeln!(
            out,
            "diagnostic {} count={} at={offset} example={:?}",
            f.code.as_str(),
            f.count,
            f.example
        );
    }
    out
}
