//! The metadata of a recording: the members of the trace's top-level object, with the keys of Kineto's writer.

use crate::device::collector::Collector;
use crate::hot::clock::Clock;
use crate::hot::system::{host_name, process_name};
use crate::options::Options;
use serde_json::{Value, json};

/// A member of the trace's top-level object: key and value.
pub(crate) type Member = (String, Value);

/// Three months in ns. The base time is rounded down to a multiple of it, so that all ranks of a run have the same
/// base.
const BASE_NS: i64 = 7_889_238 * 1_000_000_000;

/// Formats the members of an object as JSON, without the braces.
pub(crate) fn members(object: &[Member]) -> String {
    let member = |(key, value): &Member| format!("{}: {value}", Value::from(key.as_str()));
    object.iter().map(member).collect::<Vec<_>>().join(", ")
}

/// Returns the metadata that is known at the start of a recording.
pub(crate) fn document(options: &Options, clock: Clock, devices: Option<&Collector>) -> Vec<Member> {
    let mut document = Vec::new();
    let mut put = |key: &str, value: Value| document.push((key.to_owned(), value));
    put("schemaVersion", json!(1));
    match devices {
        Some(devices) => devices.members().into_iter().for_each(|(key, value)| put(key, value)),
        None => put("deviceProperties", json!([])),
    }
    for (key, is_on) in options.named_flags() {
        if is_on {
            put(key, json!(1));
        }
    }
    put("displayTimeUnit", json!("ms"));
    let (_, now) = clock.reading();
    put("baseTimeNanoseconds", json!(now - now.rem_euclid(BASE_NS)));
    put("recorder", json!(concat!("Kinetoscope ", env!("CARGO_PKG_VERSION"))));
    put("pid", json!(std::process::id()));
    put("process_name", json!(process_name()));
    put("clock", json!(clock.as_str()));
    put("host_name", json!(host_name()));
    for key in ["PT_PROFILER_JOB_NAME", "PT_PROFILER_JOB_VERSION", "PT_PROFILER_JOB_ATTEMPT_INDEX"] {
        if let Ok(value) = std::env::var(key) {
            put(key, json!(value));
        }
    }
    document
}
