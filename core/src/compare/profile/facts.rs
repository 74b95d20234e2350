//! Facts about a trace that decide whether two traces can be compared.

use crate::analysis::device::device_time::DeviceTime;
use crate::analysis::overview::info::producer;
use crate::diagnostics::Severity;
use crate::table::category::Category;
use crate::table::layout::Key;
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What is known about a trace, in words for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Facts {
    pub(crate) producer: String,
    pub(crate) devices: Vec<String>,
    /// The number of devices with activities.
    pub(crate) used_devices: usize,
    pub(crate) has_python: bool,
    pub(crate) has_shapes: bool,
    pub(crate) rank: Option<i64>,
    pub(crate) world_size: Option<i64>,
    pub(crate) schema: Option<String>,
    /// Whether a part of the trace could not be read.
    pub(crate) is_partial: bool,
    /// Whether only a summary of the trace is known.
    pub(crate) is_summary: bool,
}

impl Facts {
    pub(super) fn of(trace: &Trace, devices: &[DeviceTime]) -> Facts {
        let table = &trace.table;
        let mut names: Vec<String> =
            table.metadata.device_names().into_iter().map(|(_, name)| name).collect();
        names.sort_unstable();
        names.dedup();
        let has_key = |key| table.layouts.all().iter().any(|layout| layout.find(key).is_some());
        Facts {
            producer: producer(table).to_owned(),
            devices: names,
            used_devices: devices.len(),
            has_python: table.layouts.has(Category::PythonFunction),
            has_shapes: has_key(Key::InputDims),
            rank: table.metadata.rank(),
            world_size: table.metadata.world_size(),
            schema: table.metadata.value("schemaVersion").map(|version| version.to_string()),
            is_partial: trace.diagnostics.worst() == Some(Severity::Lost),
            is_summary: false,
        }
    }
}
