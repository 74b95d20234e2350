//! Several processes with steps, as a trace of several ranks has them.

use super::device_time::activities;
use crate::analysis::context::Analysis;
use crate::base::names::NameId;
use crate::trace::table::events::Row;
use crate::trace::table::metadata::Source;
use alloc::string::String;
use alloc::vec::Vec;

/// The processes with steps, and which use a device.
pub(crate) struct StepProcesses {
    pub(crate) all: Vec<NameId>,
    devices: Vec<(String, Vec<NameId>)>,
}

impl Analysis<'_> {
    /// Returns the processes with steps, if there are several. PyTorch's records do not distinguish processes.
    pub(crate) fn step_processes(&self) -> Option<&StepProcesses> {
        self.once(|| StepProcesses::find(self)).as_ref()
    }
}

impl StepProcesses {
    fn find(analysis: &Analysis<'_>) -> Option<StepProcesses> {
        let (table, finder) = (&analysis.trace.table, analysis.step_finder());
        if finder.processes.len() < 2 || table.metadata.source != Source::Chrome {
            return None;
        }
        let of_device = |(name, rows): (String, Vec<Row>)| {
            let steps = finder.on_device(analysis.trace, &rows).into_iter();
            (name, steps.map(|step| table.track(step).pid).collect())
        };
        let devices = activities(table).into_iter().map(of_device).collect();
        Some(StepProcesses { all: finder.processes.iter().map(|process| process.0).collect(), devices })
    }

    /// Whether a process uses a device.
    pub(crate) fn uses(&self, process: NameId, device: &str) -> bool {
        self.devices.iter().any(|(name, processes)| name == device && processes.contains(&process))
    }
}
