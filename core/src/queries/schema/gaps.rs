//! The table `gaps`: the idle time of devices.

use super::Schema;
use super::column::{Column, fields, number, opened, since};
use crate::analysis::context::Analysis;
use crate::analysis::device::device_time::DeviceTime;
use crate::analysis::device::idle::GapPart;
use crate::trace::Trace;
use alloc::vec::Vec;

pub(super) const SCHEMA: Schema = Schema {
    name: "gaps",
    about: "A row is a period with one cause in which a device was idle, between its first activity and its last. The periods of a \
            device add up to its idle time.",
    sorted_by: &["device", "ts_ns"],
    fields: || fields(Gaps::COLUMNS),
    source: |analysis, _| opened(Gaps::new(analysis), |all| all.gaps.len(), Gaps::COLUMNS),
};

struct Gaps<'t> {
    trace: &'t Trace,
    devices: &'t [DeviceTime],
    /// The indexes of a device and of one of its periods.
    gaps: Vec<(usize, usize)>,
}

impl<'t> Gaps<'t> {
    fn new(analysis: &'t Analysis<'t>) -> Gaps<'t> {
        let (trace, devices) = (analysis.trace, analysis.devices());
        let parts = |(at, device): (usize, &DeviceTime)| (0..device.idle.len()).map(move |part| (at, part));
        Gaps { trace, gaps: devices.iter().enumerate().flat_map(parts).collect(), devices }
    }

    fn part(&self, at: usize) -> &GapPart {
        let (device, part) = self.gaps[at];
        &self.devices[device].idle[part]
    }
}

/// A column of the table.
type Of<'t> = Column<Gaps<'t>>;

impl<'t> Gaps<'t> {
    const COLUMNS: &'t [Of<'t>] = &[
        Of::label("device", "The device: its number, or the `pid` of its track.", |all, at| {
            Some(all.devices[all.gaps[at].0].device.as_str().into())
        }),
        Of::int("ts_ns", "The start.", |all, at| since(all.trace.start_ns, all.part(at).time.0)),
        Of::int("dur_ns", "The duration.", |all, at| Some(all.part(at).time.1 - all.part(at).time.0)),
        Of::label("cause", "The cause.", |all, at| Some(all.part(at).cause.as_str().into())),
        Of::int("behind", "The event that stood behind it: its number in `events`.", |all, at| {
            all.part(at).behind.map(number)
        })
        .optional(),
    ];
}
