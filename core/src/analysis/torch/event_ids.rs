//! The ids and numbers of function events, which groups of events do not have.

use super::function_events::{EventKind, FunctionEvent, FunctionEvents};
use crate::base::handle::collect;
use crate::base::order::sort_by_key;
use crate::trace::table::events::Table;
use crate::trace::table::layout::{FieldPlace, Key};
use crate::trace::table::merged::own_number;
use crate::trace::table::metadata::Source;
use crate::trace::table::tracks::plain;
use alloc::vec::Vec;

/// The ids and numbers of an event, which averages do not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventIds {
    /// The external or correlation id; 0 for none.
    pub id: i64,
    /// The autograd sequence number; -1 for none.
    pub sequence_nr: i64,
    /// The thread of the forward operator; 0 for none.
    pub fwd_thread: i64,
    /// The number of the device; of work on the CPU, that of the process.
    pub device_index: i64,
    /// The number of the stream; of work on the CPU, that of the thread.
    pub device_resource_id: i64,
}

/// Returns the ids of every event.
pub(super) fn assign(table: &Table, events: &FunctionEvents) -> Vec<EventIds> {
    let numbers = numbers(table, events);
    collect(events.len(), |event| {
        let is_memory = events.kind(event) == EventKind::Memory;
        let int = |key: Key, none: i64| match events.source {
            Source::LegacyRecords if is_memory => none,
            _ => table.int(events.row(event), key).unwrap_or(none),
        };
        let (device_index, device_resource_id) = device(table, events, event);
        EventIds {
            id: numbers[event.index()],
            sequence_nr: int(Key::SequenceNumber, -1),
            fwd_thread: int(if is_memory { Key::StartThreadId } else { Key::FwdThreadId }, 0),
            device_index,
            device_resource_id,
        }
    })
}

/// Returns the numbers of the device and of the stream or thread.
pub(super) fn device(table: &Table, events: &FunctionEvents, event: FunctionEvent) -> (i64, i64) {
    let row = events.row(event);
    let track = table.track(row);
    let number = |id| own_number(table, plain(&table.names, id).parse().unwrap_or(-1));
    let is_memory = events.kind(event) == EventKind::Memory;
    let member = |key: &str| {
        let value = table.field_named(row, FieldPlace::Top, key).filter(|_| !is_memory);
        value.and_then(|value| value.as_i64()).unwrap_or(0)
    };
    match events.source {
        Source::LegacyRecords if is_memory => (0, 0),
        _ if is_memory => (0, number(track.tid)),
        Source::Chrome | Source::ExecutionTrace => (number(track.pid), number(track.tid)),
        Source::LegacyRecords => (0, number(track.tid)),
        Source::KinetoEvents => (member("device_index"), member("device_resource_id")),
    }
}

/// Returns PyTorch's ids: the external id of operators, the correlation id of launches and device work. Memory events
/// are numbered after all others, failed allocations last. Those of legacy records have no id.
fn numbers(table: &Table, events: &FunctionEvents) -> Vec<i64> {
    let id = |event: FunctionEvent| {
        let row = events.row(event);
        let category = table.category(row);
        let caused = category.is_launch_call() || category.is_on_device();
        let correlation = table.int(row, Key::Correlation).filter(|_| caused);
        match events.kind(event) {
            EventKind::Memory => 0,
            _ => correlation.or_else(|| table.int(row, Key::ExternalId)).unwrap_or(0),
        }
    };
    let mut ids: Vec<i64> = collect(events.len(), id);
    if table.metadata.source != Source::LegacyRecords {
        let last = ids.iter().max().copied().unwrap_or(0);
        let is_failure = |event| table.name(events.row(event)) == "[OutOfMemory]";
        let mut memory: Vec<FunctionEvent> =
            events.events().filter(|&event| events.kind(event) == EventKind::Memory).collect();
        sort_by_key(&mut memory, |&event| (i64::from(is_failure(event)), i64::from(events.row(event))));
        for (number, event) in (1..).zip(memory) {
            ids[event.index()] = last.saturating_add(number);
        }
    }
    ids
}
