//! Fuzzes the reader alone: the table and the diagnostics do not depend on how the input is split into chunks.
#![no_main]

use kinetoscope_core::trace::TextReader;
use libfuzzer_sys::fuzz_target;

fn read(data: &[u8], step: usize) -> Option<(usize, String)> {
    let mut reader = TextReader::default();
    for chunk in data.chunks(step) {
        reader.feed(chunk).ok()?;
    }
    let (table, diagnostics) = reader.finish().ok()?;
    Some((table.len(), format!("{diagnostics:?}")))
}

fuzz_target!(|data: &[u8]| {
    let complete = read(data, data.len().max(1));
    let step = data.first().map_or(1, |&b| usize::from(b) % 61 + 1);
    assert_eq!(complete, read(data, step));
});
