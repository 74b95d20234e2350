//! Exports of traces in memory.

use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::queries::{Started, export};
use kinetoscope_core::trace::Trace;
use serde_json::{Value, json};

/// Returns what an export with its default options writes.
pub fn exported(trace: &Trace, name: &str, salt: &[u8]) -> Vec<u8> {
    exported_with(trace, name, &json!({}), salt)
}

/// Returns what an export with options writes.
pub fn exported_with(trace: &Trace, name: &str, options: &Value, salt: &[u8]) -> Vec<u8> {
    let export = export(name).expect("an export");
    let options = Options::from_json(export.options, options).expect("options");
    let begun = export.begin(trace, &options, salt);
    let Ok(Started::Writing(mut writing)) = begun else { panic!("the export should not be skipped") };
    let mut bytes = Vec::new();
    while writing.next(trace, &mut bytes) {}
    bytes
}
