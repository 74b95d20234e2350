//! The members of a trace's top-level object, as Kineto's writer has them.

use crate::device::collector::Collector;
use crate::hot::clock::Clock;
use crate::hot::system::{host_name, process_name};
use crate::options::Options;
use serde_json::{Value, json};

/// A key of the trace's top-level object, and its value.
pub(crate) type Member = (String, Value);

/// Three months, by which the base of all times is rounded down, so that the ranks of a run share it.
const BASE_NS: i64 = 7_889_238 * 1_000_000_000;

/// The members of an object, without its braces.
pub(crate) fn members(object: &[Member]) -> String {
    let member = |(key, value): &Member| format!("{}: {value}", Value::from(key.as_str()));
    object.iter().map(member).collect::<Vec<_>>().join(", ")
}

/// What stands at the top of the trace, as Kineto's writer has it.
pub(crate) fn document(options: &Options, clock: Clock, devices: Option<&Collector>) -> Vec<Member> {
    let mut document = Vec::new();
    let mut put = |key: &str, value: Value| document.push((key.to_owned(), value));
    put("schemaVersion", json!(1));
    match devices {
        Some(devices) => devices.members().into_iter().for_each(|(key, value)| put(key, value)),
        None => put("deviceProperties", json!([])),
    }
    for (key, is_on) in options.told() {
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
