//! The places of device work, and which of them each busy instant of a device is attributed to.
//!
//! A busy instant belongs to one activity: compute comes before communication, copies and memsets, and of one class the
//! activity that began first. So the time of a collective is its exposed time.

use super::Periods;
use super::places::{Builder, DEVICES, NOWHERE};
use crate::analysis::context::Analysis;
use crate::analysis::device::attributes::copy_name;
use crate::analysis::device::classes::Class;
use crate::analysis::intervals::{Interval, Intervals};
use crate::runs::compare::kinds::RowKind;
use crate::trace::table::events::Row;
use alloc::vec::Vec;

/// Adds the places of the activities of all devices.
pub(super) fn add(analysis: &Analysis<'_>, periods: &Periods, places: &mut Builder<'_>) {
    let table = &analysis.trace.table;
    let classes = analysis.classes();
    for ((_, rows), device) in analysis.activities().iter().zip(analysis.devices()) {
        let mut of_class: [Vec<(Row, u32)>; 4] = Default::default();
        for &row in rows {
            let class = classes.class(row);
            let node = activity_place(places, row, class);
            if let Some(step) = periods.at(table.ts(row)) {
                places.add(node, step, 1, (0, table.dur(row).max(0)));
            }
            of_class[class as usize].push((row, node));
        }
        let mut covered = Intervals::default();
        for (rows, union) in of_class.iter().zip(&device.unions) {
            attribute(periods, places, rows, covered.as_slice());
            covered = covered.union(union);
        }
    }
}

fn activity_place(places: &mut Builder<'_>, row: Row, class: Class) -> u32 {
    let trace = places.trace;
    let launch = trace.links.launch(row);
    let operator = trace.links.op(row);
    let cause = operator.or(launch);
    let node = launch.or(operator).map_or(NOWHERE, |call| places.of_row[call.index()]);
    let kind = match class {
        Class::Compute => RowKind::Kernel,
        Class::Communication => RowKind::Collective,
        Class::Memcpy => RowKind::Memcpy,
        Class::Memset => RowKind::Memset,
    };
    let under = cause.filter(|_| node != NOWHERE).map_or(-1, |cause| cause.index() as i64);
    let parent = if node == NOWHERE { DEVICES } else { node };
    places.place(row, kind, (parent, under), copy_name(&trace.table, row).as_deref())
}

/// Attributes the times of activities of one class, which are ordered by start, outside of what other classes cover.
fn attribute(periods: &Periods, places: &mut Builder<'_>, rows: &[(Row, u32)], covered: &[Interval]) {
    let table = &places.trace.table;
    let mut reached = i64::MIN;
    let mut first = 0;
    for &(row, node) in rows {
        let (mut start, end) = (table.ts(row).max(reached), table.end(row));
        reached = reached.max(end);
        while covered.get(first).is_some_and(|period| period.1 <= start) {
            first += 1;
        }
        for &(from, until) in covered[first..].iter().take_while(|period| period.0 < end) {
            places.add_period(periods, node, (start, from.min(end)));
            start = start.max(until);
        }
        places.add_period(periods, node, (start, end));
    }
}
