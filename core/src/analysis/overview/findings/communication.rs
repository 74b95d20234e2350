//! The finding about communication that nothing hides.

use super::setup::is_data_parallel;
use super::{Facts, Finding, FindingCode, SHOWN, percent, share, threshold};
use crate::analysis::device::classes::Class;
use crate::analysis::device::device_time::DeviceTime;
use crate::analysis::device::names::is_host_wait;
use crate::analysis::overview::bound::BoundBy;
use crate::analysis::replay::Changes;
use crate::base::units::time_ns;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::vec::Vec;

/// Adds the communication of the device on which most of it is exposed.
pub(super) fn exposed(out: &mut Vec<Finding>, facts: &Facts<'_>) {
    let analysis = facts.analysis;
    let exposed = |device: &DeviceTime| {
        let class = device.classes.iter().find(|class| class.class == Class::Communication);
        class.map_or(0, |class| class.exposed_ns)
    };
    let Some(device) = analysis.devices().iter().max_by_key(|device| exposed(device)) else {
        out.extend(of_host(facts));
        return;
    };
    let (window, ns) = (device.window.1 - device.window.0, exposed(device));
    if share(ns, window) < threshold::EXPOSED {
        return;
    }
    let message = format!(
        "GPU {} communicated for {} with nothing else running ({} of its window)",
        device.device,
        time_ns(ns, None),
        percent(ns, window)
    );
    let advice = if is_data_parallel(facts.table()) {
        "torch.nn.DataParallel copies the model in each step: DistributedDataParallel does not"
    } else {
        "see with `ranks` whether it waits for other ranks; overlap the rest with computation: bucket sizes, prefetching, a separate stream"
    };
    let mut finding = Finding::new(FindingCode::ExposedCommunication, ns, message, advice);
    finding.changes = Some(Changes::without_classes(&[Class::Communication]));
    finding.is_ideal = true;
    let groups = analysis.kernel_groups().iter().filter(|group| group.class == Class::Communication);
    let longest: Vec<Row> = groups.take(SHOWN).map(|group| group.longest).collect();
    out.push(finding.shown_by("collectives", longest));
}

/// Collectives of the host for which the main thread waits.
fn of_host(facts: &Facts<'_>) -> Option<Finding> {
    let (bound, table) = (facts.bound?, facts.table());
    let ns = bound.ns(BoundBy::Communication);
    if share(ns, bound.time_ns) < threshold::EXPOSED {
        return None;
    }
    let collectives = table.names.that(is_host_wait);
    let is_collective = |row: &Row| collectives.has(table.name_id(*row)) && table.is_span(*row);
    let longest = table.rows().filter(is_collective).max_by_key(|&row| table.dur(row))?;
    let message = format!(
        "the main thread waited {} for communication of the host ({} of its time), the longest `{}` with {}",
        time_ns(ns, None),
        percent(ns, bound.time_ns),
        table.name(longest),
        time_ns(table.dur(longest), None)
    );
    let advice = "see with `ranks` whether they wait for other ranks; overlap the rest with computation";
    let finding = Finding::new(FindingCode::ExposedCommunication, ns, message, advice);
    Some(finding.shown_by("collectives", [longest].into()))
}
