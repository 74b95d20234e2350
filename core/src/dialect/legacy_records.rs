//! Records of torch's legacy profiler, as `torch.autograd._disable_profiler_legacy` gives them: a list a thread of pushes,
//! pops, marks and allocations.
//!
//! A push becomes a begin, a pop an end, an allocation `[memory]`; [`pair::records`](crate::pair) pairs them by torch's
//! rules. A track is a node and one of its threads. Times count from the record `__start_profile`.

use super::{NumberedTracks, int, start};
use crate::diagnostics::{Code, Diagnostics};
use crate::names::NameId;
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::fields::Value;
use crate::table::layout::Key;

const START: &str = "__start_profile";

/// The fields of a record under the keys that Kineto's traces have.
const KEYS: &[(&str, Key)] = &[
    ("handle", Key::ExternalId),
    ("fwd_thread_id", Key::FwdThreadId),
    ("sequence_nr", Key::SequenceNumber),
    ("shapes", Key::InputDims),
    ("stack", Key::CallStack),
    ("thread_id", Key::StartThreadId),
    ("cpu_memory_usage", Key::Bytes),
    ("cpu_ns", Key::CpuTime),
    ("cpu_elapsed_us", Key::CpuTime),
];

pub(super) fn apply(table: &mut Table, diagnostics: &mut Diagnostics) {
    let memory = table.names.intern("[memory]");
    let in_us = table.layouts.all().iter().any(|l| {
        let mut keys = l.fields.iter().map(|f| table.names.get(f.key));
        keys.any(|key| key == "cpu_elapsed_us")
    });
    let mut tracks = NumberedTracks::default();
    let mut node = 0;
    for row in table.rows() {
        let meaning = match table.field(row, Key::Kind).and_then(|v| v.as_str()) {
            Some("push") if int(table, row, Key::Scope) == 7 => (b'B', Category::UserAnnotation),
            Some("push") => (b'B', Category::CpuOp),
            Some("pop") => (b'E', Category::Other),
            Some("memory_alloc") => (b'i', Category::CpuInstant),
            Some("mark") => (b'i', Category::Other),
            other => {
                diagnostics.record(Code::UnknownKind, None, other.unwrap_or("").as_bytes());
                (b'I', Category::Other)
            }
        };
        table.set_meaning(row, meaning, KEYS);
        // Allocations name no node: they stand on that of the record before them.
        if meaning.1 != Category::CpuInstant {
            node = int(table, row, Key::NodeId);
        } else if table.name_id(row) == NameId::EMPTY {
            table.rename(row, memory);
        }
        let thread = int(table, row, Key::StartThreadId);
        let track = tracks.get(table, node, thread, false);
        let time = table.field(row, Key::CpuTime).and_then(|v| if in_us { v.us_as_ns() } else { v.as_i64() });
        if time.is_none() {
            diagnostics.record(Code::MissingTime, None, table.name(row).as_bytes());
        }
        table.place(row, start(time.unwrap_or(0), diagnostics), track);
    }
    table.metadata.origin = Some(origin(table, diagnostics));
}

/// The time of the record that times count from.
fn origin(table: &Table, diagnostics: &mut Diagnostics) -> i64 {
    let first = table.rows().find(|&row| table.name(row) == START);
    let is_remote = |row: Row| table.field(row, Key::IsRemote) == Some(Value::Bool(true));
    let local = first.filter(|&row| !is_remote(row));
    if local.is_none() {
        diagnostics.record(Code::NoStartRecord, None, b"");
    }
    let earliest = table.rows().map(|row| table.ts(row)).min().unwrap_or(0);
    let origin = local.map_or(earliest, |row| table.ts(row));
    if earliest < origin {
        diagnostics.record(Code::LateStartRecord, None, b"");
    }
    origin
}
