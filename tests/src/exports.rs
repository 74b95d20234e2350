//! Exports of traces in memory.

use kinetoscope_core::queries::options::Options;
use kinetoscope_core::queries::{Started, export};
use kinetoscope_core::trace::Trace;

/// Returns what an export with its default options writes.
pub fn exported(trace: &Trace, name: &str, salt: &[u8]) -> Vec<u8> {
    let begun = export(name).expect("an export").begin(trace, &Options::default(), salt);
    let Ok(Started::Writing(mut writing)) = begun else { panic!("the export should not be skipped") };
    let mut bytes = Vec::new();
    while writing.next(trace, &mut bytes) {}
    bytes
}
