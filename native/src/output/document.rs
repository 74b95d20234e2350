//! The metadata of a recording: the members of the trace's top-level object, with the keys of Kineto's writer.

use crate::device::collector::Collector;
use crate::hot::clock::Clock;
use crate::hot::system::{host_name, process_name};
use crate::json::Members;
use crate::options::Options;

/// Three months in ns. The base time is rounded down to a multiple of it, so that all ranks of a run have the same
/// base.
const BASE_NS: i64 = 7_889_238 * 1_000_000_000;

/// Returns the metadata that is known at the start of a recording.
pub(crate) fn document(options: &Options, clock: Clock, devices: Option<&Collector>) -> Members {
    let mut document = Members::default();
    document.number("schemaVersion", 1);
    match devices {
        Some(devices) => document.append(&devices.members()),
        None => document.json("deviceProperties", "[]"),
    }
    for (key, is_on) in options.named_flags() {
        if is_on {
            document.number(key, 1);
        }
    }
    document.text("displayTimeUnit", "ms");
    let (_, now) = clock.reading();
    document.number("baseTimeNanoseconds", now - now.rem_euclid(BASE_NS));
    document.text("recorder", concat!("Kinetoscope ", env!("CARGO_PKG_VERSION")));
    document.number("pid", std::process::id());
    document.text("process_name", &process_name());
    document.text("clock", clock.as_str());
    document.text("host_name", &host_name());
    for key in ["PT_PROFILER_JOB_NAME", "PT_PROFILER_JOB_VERSION", "PT_PROFILER_JOB_ATTEMPT_INDEX"] {
        if let Ok(value) = std::env::var(key) {
            document.text(key, &value);
        }
    }
    document
}
