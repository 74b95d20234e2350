//! Fuzzes reading, every query and every export: nothing panics, every identity holds, and exported traces can be read.
#![no_main]

use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::analysis::timeline::counters::counters;
use kinetoscope_core::analysis::timeline::spans::{find, instances, related};
use kinetoscope_core::analysis::timeline::tiles::{Window, tiles};
use kinetoscope_core::base::error::Error;
use kinetoscope_core::queries::{EXPORTS, Export, QUERIES, Request, Started};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::metadata::Source;
use kinetoscope_core::trace::table::tracks::TrackId;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// Returns options with which an export changes something.
fn options(export: &Export) -> Options {
    let object = match export.name {
        "folded" => json!({"lanes": true}),
        "slice" => json!({"time": [1000, 2_000_000]}),
        "shrink" => json!({"minDuration": "2us"}),
        _ => Value::Null,
    };
    Options::from_json(export.options, &object).expect("options")
}

/// Returns what an export writes; `None` if it refuses the trace.
fn written(trace: &Trace, export: &Export) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    match export.begin(trace, &options(export), b"salt") {
        Ok(Started::Writing(mut writing)) => while writing.next(trace, &mut text) {},
        Ok(Started::Skipped) => {}
        // Not every trace has memory events, and execution traces have no times and no public fields.
        Err(error) => {
            let is_execution_trace = trace.table.metadata.source == Source::ExecutionTrace;
            let can_fail = match export.name {
                "memory-timeline" => true,
                "pftrace" | "redact" => is_execution_trace,
                _ => false,
            };
            assert!(can_fail, "{}: {error}", export.name);
            return None;
        }
    }
    Some(text)
}

fuzz_target!(|data: &[u8]| {
    let Ok(trace) = Trace::read(data) else { return };
    let options = Options::default();
    for query in QUERIES {
        for for_reading in [false, true] {
            let request = Request::new(&options).about("fuzz").for_reading(for_reading);
            let answer = match query.answer(&trace, request) {
                // Not every trace can be replayed.
                Err(Error::Unfit(_)) => continue,
                answer => answer.expect("an answer"),
            };
            assert!(!answer.failed || query.name == "fitness", "{}", answer.rows.to_text());
            let _ = (answer.to_text(None), answer.rows.to_csv());
        }
    }
    for track in 0..trace.table.tracks.all().len() as u32 {
        let _ = tiles(&trace, Window { track: TrackId(track), start_ns: 0, end_ns: 1_000_000, pixels: 50 });
    }
    for row in trace.table.rows().take(16) {
        let _ = (related(&trace, row), find(&trace, &[trace.table.name(row)], false));
    }
    let by = GroupBy::default().by_shape().by_module();
    let _ = instances(&trace, by, 0);
    for counter in counters(&trace) {
        let _ = counter.curve(-1000, 1_000_000, 50);
    }
    let chrome = EXPORTS.iter().find(|export| export.name == "chrome").expect("an export");
    for export in EXPORTS {
        let Some(text) = written(&trace, export) else { continue };
        if ["chrome", "pftrace"].contains(&export.name) && !trace.table.is_empty() {
            let again = Trace::read(&text).expect("the exported trace should be readable");
            assert_eq!(again.table.len(), trace.table.len());
            assert_eq!(written(&again, chrome), written(&trace, chrome));
        }
    }
});
