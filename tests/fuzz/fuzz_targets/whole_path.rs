//! From bytes to every answer and back to bytes: no panic, every identity holds, what is written reads back.
#![no_main]

use kinetoscope_core::analysis::call_tree::{Cut, folded, tree_rows};
use kinetoscope_core::analysis::device_time::device_times;
use kinetoscope_core::analysis::event_rows::event_rows;
use kinetoscope_core::analysis::function_events::FunctionEvents;
use kinetoscope_core::analysis::ledger::identities;
use kinetoscope_core::analysis::steps::steps;
use kinetoscope_core::analysis::summary::summary;
use kinetoscope_core::report::summary_text::render;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::write::chrome::{ChromeWriter, write};
use kinetoscope_core::write::redact::Redact;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(trace) = Trace::read(data) else { return };
    let events = FunctionEvents::new(&trace);
    let devices = device_times(&trace);
    for check in identities(&trace, &events, &devices, &steps(&trace, &devices)) {
        assert!(check.holds, "{check:?}");
    }
    let _ = render("fuzz", &trace, &summary(&trace));
    let _ = event_rows(&trace, &events).to_csv();
    let _ = tree_rows(&trace, Cut { depth: 8, min_share: 0.0 }).to_text();
    let _ = folded(&trace);
    let text = write(&trace.table, String::new(), |_| true).expect("memory");
    if !trace.table.is_empty() {
        let again = Trace::read(text.as_bytes()).expect("what was written is a trace");
        assert_eq!(again.table.len(), trace.table.len());
        assert_eq!(write(&again.table, String::new(), |_| true).expect("memory"), text);
    }
    let mut writer = ChromeWriter::with_rewrite(String::new(), Redact::new(b"salt"));
    for row in trace.table.rows() {
        writer.event(&trace.table, row).expect("memory");
    }
    let _ = writer.finish(&trace.table);
});
