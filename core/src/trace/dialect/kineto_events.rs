//! The events of a profiling result, as torch holds them before its `FunctionEvent`s: one object per event with
//! `start_ns`, `correlation_id`, `linked_correlation_id`, `device_type` and so on.
//!
//! An event that is linked to an operator is a runtime call or device work. As in torch, a runtime call is placed on
//! the thread of its operator, whatever its own thread id.

use super::hidden::{hidden_names, is_hidden};
use super::placing::{NumberedTracks, duration, int, start};
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::index::Index;
use crate::trace::table::bounds::count_size;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{FieldPlace, Key};
use crate::trace::table::tracks::TrackId;
use alloc::string::ToString;

const COMMON: [(&str, Key); 10] = [
    ("fwd_thread_id", Key::FwdThreadId),
    ("sequence_nr", Key::SequenceNumber),
    ("shapes", Key::InputDims),
    ("dtypes", Key::InputType),
    ("concrete_inputs", Key::ConcreteInputs),
    ("stack", Key::CallStack),
    ("nbytes", Key::Bytes),
    ("device_type", Key::DeviceType),
    ("start_ns", Key::CpuTime),
    ("python_id", Key::PythonId),
];

const fn keys<const N: usize>(extra: [(&'static str, Key); 2]) -> [(&'static str, Key); N] {
    let mut keys = [extra[0]; N];
    let mut at = 0;
    while at < COMMON.len() {
        keys[at] = COMMON[at];
        at += 1;
    }
    keys[at] = extra[0];
    keys[at + 1] = extra[1];
    keys
}

/// The keys of operators.
const OPERATOR: [(&str, Key); 12] =
    keys([("correlation_id", Key::ExternalId), ("linked_correlation_id", Key::LinkedId)]);

/// The keys of work that an operator caused: runtime calls and device work.
const CAUSED: [(&str, Key); 12] =
    keys([("correlation_id", Key::Correlation), ("linked_correlation_id", Key::ExternalId)]);

pub(super) fn apply(table: &mut Table, diagnostics: &mut Diagnostics) {
    let base = table.metadata.text("trace_start_ns").and_then(|text| text.parse().ok()).unwrap_or(0i64);
    table.metadata.base_ns = base;
    // A Chrome trace that is written from this table keeps the absolute times.
    table.metadata.entries.push(("baseTimeNanoseconds".into(), base.to_string()));
    table.metadata.origin = Some(0);
    let mut tracks = NumberedTracks::default();
    for row in table.rows() {
        let category = category(table, row);
        let keys = if category == Category::Runtime || category.is_on_device() { &CAUSED } else { &OPERATOR };
        let is_instant = category == Category::CpuInstant;
        table.set_meaning(row, (if is_instant { b'i' } else { b'X' }, category), keys);
        let begin = int(table, row, Key::CpuTime);
        let end = unkeyed_int(table, row, "end_ns").unwrap_or(begin);
        let track = if category.is_on_device() {
            let (device, stream) = (int(table, row, Key::Device), int(table, row, Key::DeviceResourceId));
            tracks.get(table, device, stream, true)
        } else {
            let thread = thread(table, row);
            tracks.get(table, 0, thread, false)
        };
        table.place(row, start(begin.saturating_sub(base), diagnostics), track);
        if !is_instant {
            table.set_dur(row, duration(end.saturating_sub(begin), diagnostics));
        }
        count_size(table, row, (None, table.name(row).as_bytes()), diagnostics);
        record_diagnostics(table, row, diagnostics);
    }
    join_threads(table);
}

/// The thread that an event began on. PyTorch's ids have 64 bits without a sign; an event without a thread has the largest.
fn thread(table: &Table, row: Row) -> i64 {
    match table.field(row, Key::StartThreadId) {
        Some(Value::Number(text)) => text.parse::<u64>().map_or(0, |id| id as i64),
        _ => int(table, row, Key::StartThreadId),
    }
}

/// The integer value of a field without a known key.
fn unkeyed_int(table: &Table, row: Row, key: &str) -> Option<i64> {
    table.field_named(row, FieldPlace::Top, key)?.as_i64()
}

fn category(table: &Table, row: Row) -> Category {
    let name = table.name(row);
    let is_annotation = table.field(row, Key::IsUserAnnotation) == Some(Value::Bool(true));
    let device = table.field_named(row, FieldPlace::Top, "device_type").and_then(|v| v.as_str());
    match (device, is_annotation) {
        _ if matches!(name, "[memory]" | "[OutOfMemory]") => Category::CpuInstant,
        (None | Some("CPU"), _)
            if table.field_named(row, FieldPlace::Top, "is_python_function") == Some(Value::Bool(true)) =>
        {
            Category::PythonFunction
        }
        (None | Some("CPU"), true) => Category::UserAnnotation,
        (None | Some("CPU"), false)
            if unkeyed_int(table, row, "linked_correlation_id").is_some_and(|id| id > 0) =>
        {
            Category::Runtime
        }
        (None | Some("CPU"), false) => Category::CpuOp,
        (Some(_), true) => Category::GpuUserAnnotation,
        _ if name.starts_with("Memcpy") => Category::Memcpy,
        _ if name.starts_with("Memset") => Category::Memset,
        _ => Category::Kernel,
    }
}

fn record_diagnostics(table: &Table, row: Row, diagnostics: &mut Diagnostics) {
    let name = table.name(row).as_bytes();
    if unkeyed_int(table, row, "linked_correlation_id").is_some_and(|id| id < 0) {
        diagnostics.record(Code::NegativeCorrelation, None, name);
    }
    if int(table, row, Key::Scope) == 1 && table.int(row, Key::FwdThreadId).is_none() {
        diagnostics.record(Code::NoForwardThread, None, name);
    }
}

/// Whether torch treats an event as asynchronous: `is_async` is set, or it begins and ends on different threads.
pub(crate) fn is_async(table: &Table, begin: Row, end: (Row, Key)) -> bool {
    table.field(begin, Key::IsAsync) == Some(Value::Bool(true))
        || table.int(begin, Key::StartThreadId) != table.int(end.0, end.1)
}

/// Moves runtime calls to the threads of their operators.
fn join_threads(table: &mut Table) {
    let hidden = hidden_names(&table.names);
    let mut thread = Index::default();
    for row in table.rows().filter(|&row| !table.category(row).is_on_device()) {
        if table.int(row, Key::LinkedId) == Some(0)
            && !is_hidden(table, row, &hidden)
            && !is_async(table, row, (row, Key::EndThreadId))
            && let Some(id) = table.int(row, Key::ExternalId)
        {
            thread.set((id, 0), table.track_id(row).0);
        }
    }
    for row in table.rows() {
        if table.category(row) != Category::Runtime {
            continue;
        }
        if let Some(track) = table.int(row, Key::ExternalId).and_then(|id| thread.get((id, 0))) {
            table.place(row, table.ts(row), TrackId(track));
        }
    }
}
